-- The server that a piece of work is taken by: several on one database leave each other's alone.
ALTER TABLE work ADD COLUMN taken_by TEXT;
