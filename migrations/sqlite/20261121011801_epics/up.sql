-- Epics of groups: what issues of several projects work towards. Days are stored as the moment they begin.
CREATE TABLE epics (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    iid BIGINT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    author_id BIGINT NOT NULL,
    confidential BOOLEAN NOT NULL,
    color TEXT NOT NULL,
    -- Where a day is not fixed, it is that of the milestones of the issues.
    start_date_fixed BIGINT,
    start_date_is_fixed BOOLEAN NOT NULL,
    due_date_fixed BIGINT,
    due_date_is_fixed BOOLEAN NOT NULL,
    closed_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, iid)
);
CREATE INDEX epics_author_id ON epics (author_id);

-- The order that people give the issues of an epic.
ALTER TABLE issues ADD COLUMN epic_position BIGINT;
-- What became of an issue.
ALTER TABLE issues ADD COLUMN promoted_to_epic_id BIGINT;
CREATE INDEX issues_epic_id ON issues (epic_id, epic_position);
