-- A fact is one row, whoever is told of it; whoever sends makes a row for each receiver.
ALTER TABLE hook_events ADD COLUMN object TEXT NOT NULL DEFAULT '';
ALTER TABLE hook_events ADD COLUMN queued BOOLEAN NOT NULL DEFAULT TRUE;
CREATE INDEX hook_events_unqueued ON hook_events (id) WHERE NOT queued;
