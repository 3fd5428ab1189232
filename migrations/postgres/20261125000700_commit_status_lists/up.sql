-- Statuses of a commit are counted in an index, whether or not those that were retried are wanted.
DROP INDEX jobs_sha;
CREATE INDEX jobs_sha ON jobs (project_id, sha, id, retried);
