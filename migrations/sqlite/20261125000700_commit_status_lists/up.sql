-- Statuses of a commit are counted in an index, whether or not those that were retried are wanted.
DROP INDEX jobs_sha;
CREATE INDEX jobs_sha ON jobs (project_id, sha, id, retried);
-- The column of the condition is in the index, or SQLite reads each row for it.
DROP INDEX pipelines_broken;
CREATE INDEX pipelines_broken ON pipelines (project_id, id, source, yaml_errors) WHERE yaml_errors IS NOT NULL;
