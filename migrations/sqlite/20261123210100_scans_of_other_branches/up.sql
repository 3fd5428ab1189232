-- Reports of other branches are read, too, but no vulnerability comes of them.
ALTER TABLE security_scans ADD COLUMN on_default_branch BOOLEAN NOT NULL DEFAULT TRUE;
