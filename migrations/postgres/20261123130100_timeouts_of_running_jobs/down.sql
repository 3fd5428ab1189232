ALTER TABLE jobs DROP COLUMN running_timeout;
