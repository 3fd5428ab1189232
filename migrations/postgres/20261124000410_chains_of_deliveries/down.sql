ALTER TABLE hook_events DROP COLUMN receivers;
-- Of each chain the first is left.
DELETE FROM hook_events WHERE EXISTS (
    SELECT 1 FROM hook_events AS earlier WHERE earlier.uuid = hook_events.uuid AND earlier.id < hook_events.id
);
DROP INDEX hook_events_uuid;
CREATE UNIQUE INDEX hook_events_uuid ON hook_events (uuid);
