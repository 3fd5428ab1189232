-- What waits too long for its receiver is found by its age.
CREATE INDEX hook_deliveries_age ON hook_deliveries (created_at);
