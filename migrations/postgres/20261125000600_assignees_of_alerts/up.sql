-- Who looks after an alert.
CREATE TABLE alert_assignees (
    alert_id BIGINT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (alert_id, user_id)
);
CREATE INDEX alert_assignees_user_id ON alert_assignees (user_id);
