DROP INDEX hook_events_unqueued;
ALTER TABLE hook_events DROP COLUMN queued;
ALTER TABLE hook_events DROP COLUMN object;
