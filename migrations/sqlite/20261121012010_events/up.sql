-- What people did, for feeds. Of an item or note, `item_kind` and `item_id` say which decides who may know of it.
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL,
    action TEXT NOT NULL,
    target_type TEXT,
    target_id BIGINT,
    target_iid BIGINT,
    target_title TEXT,
    item_kind TEXT,
    item_id BIGINT,
    note_id BIGINT,
    -- What a push moved, or which page of a wiki, as JSON.
    details TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX events_author ON events (author_id, id);
CREATE INDEX events_project ON events (project_id, id);
CREATE INDEX events_item ON events (item_kind, item_id);

-- What happened to labels, milestone, state, weight or iteration of an item.
CREATE TABLE resource_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT,
    label_id BIGINT,
    milestone_id BIGINT,
    iteration_id BIGINT,
    state TEXT,
    weight BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX resource_events_item ON resource_events (item_kind, item_id, kind, id);
