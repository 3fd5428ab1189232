-- Feeds tell of what is done in groups, too.
ALTER TABLE events ADD COLUMN namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE;
CREATE INDEX events_namespace ON events (namespace_id, id);
