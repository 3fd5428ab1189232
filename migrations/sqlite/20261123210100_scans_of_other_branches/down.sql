ALTER TABLE security_scans DROP COLUMN on_default_branch;
