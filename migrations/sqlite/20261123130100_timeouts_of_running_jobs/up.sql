-- Seconds after which a job that runs has run too long: what its configuration says in `timeout`, or else its project, as
-- far as its runner takes jobs that long. Another job in its place begins with `timeout` alone.
ALTER TABLE jobs ADD COLUMN running_timeout BIGINT;
