-- Notices that people have closed, and the order in which they read issues.
CREATE TABLE user_callouts (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    feature TEXT NOT NULL,
    dismissed_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, feature)
);
ALTER TABLE user_preferences ADD COLUMN issues_sort TEXT;
