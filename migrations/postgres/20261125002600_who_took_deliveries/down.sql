DROP INDEX hook_deliveries_taken;
ALTER TABLE hook_deliveries DROP COLUMN taken_by;
