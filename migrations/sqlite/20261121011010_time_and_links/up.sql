-- Work on issues and merge requests, in seconds; what was taken back is below zero.
CREATE TABLE timelogs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL,
    time_spent BIGINT NOT NULL,
    summary TEXT,
    spent_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX timelogs_item ON timelogs (item_kind, item_id);

-- Issues that have to do with each other, or of which one must be done first: the source blocks the target.
CREATE TABLE issue_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    source_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    target_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    link_type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (source_id, target_id)
);
CREATE INDEX issue_links_target ON issue_links (target_id);

-- In the order that people give them.
CREATE INDEX issues_project_position ON issues (project_id, relative_position, id);
