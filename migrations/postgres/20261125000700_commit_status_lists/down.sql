DROP INDEX jobs_sha;
CREATE INDEX jobs_sha ON jobs (project_id, sha, id);
