-- Facts that one leads to another have the same id. Who was told of one is not told again: `h1 i2`, hooks and integrations.
DROP INDEX hook_events_uuid;
CREATE INDEX hook_events_uuid ON hook_events (uuid);
ALTER TABLE hook_events ADD COLUMN receivers TEXT NOT NULL DEFAULT '';
