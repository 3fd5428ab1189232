DROP INDEX jobs_sha;
CREATE INDEX jobs_sha ON jobs (project_id, sha, id);
DROP INDEX pipelines_broken;
CREATE INDEX pipelines_broken ON pipelines (project_id, id, source) WHERE yaml_errors IS NOT NULL;
