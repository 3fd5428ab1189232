-- The server that holds the lease of a delivery, which frees it when it starts again. Few are held at once.
ALTER TABLE hook_deliveries ADD COLUMN taken_by TEXT;
CREATE INDEX hook_deliveries_taken ON hook_deliveries (locked_until) WHERE locked_until IS NOT NULL;
