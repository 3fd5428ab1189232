-- Who did what that administrators and owners may have to answer for. Rows outlive what they name.
CREATE TABLE audit_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    author_id BIGINT,
    author_name TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id BIGINT NOT NULL,
    entity_path TEXT NOT NULL,
    event_name TEXT NOT NULL,
    details TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX audit_events_entity ON audit_events (entity_type, entity_id, id);
CREATE INDEX audit_events_created_at ON audit_events (created_at, id);

-- What administrators tell everybody for some time.
CREATE TABLE broadcast_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    message TEXT NOT NULL,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    color TEXT NOT NULL,
    font TEXT NOT NULL,
    target_access_levels TEXT NOT NULL,
    target_path TEXT,
    broadcast_type TEXT NOT NULL,
    dismissable BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- The gates of feature flags: for whom a feature is switched on.
CREATE TABLE feature_gates (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    name TEXT NOT NULL,
    gate TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (name, gate, value)
);

-- How the installation looks: one row.
CREATE TABLE appearances (
    id BIGINT PRIMARY KEY NOT NULL,
    appearance TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
