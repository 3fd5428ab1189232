DROP INDEX events_namespace;
DELETE FROM events WHERE namespace_id IS NOT NULL;
ALTER TABLE events DROP COLUMN namespace_id;
