-- The last number given out to a kind of thing in a project or group; a number is never given twice.
CREATE TABLE sequences (
    home TEXT NOT NULL,
    home_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (home, home_id, kind)
);

-- Labels of projects and groups; exactly one of the two is set.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    description TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name),
    UNIQUE (namespace_id, name)
);

-- How urgent a label is in one project, its own or one of a group above it.
CREATE TABLE label_priorities (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    priority BIGINT NOT NULL,
    PRIMARY KEY (project_id, label_id)
);
CREATE INDEX label_priorities_label_id ON label_priorities (label_id);

CREATE TABLE label_subscriptions (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, label_id)
);
CREATE INDEX label_subscriptions_label_id ON label_subscriptions (label_id);

-- Milestones of projects and groups; exactly one of the two is set. Days are stored as the moment they begin.
CREATE TABLE milestones (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    iid BIGINT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    start_date BIGINT,
    due_date BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, iid),
    UNIQUE (namespace_id, iid),
    UNIQUE (project_id, title),
    UNIQUE (namespace_id, title)
);
