-- Lists leave out the children of other pipelines. With their source in it, an index tells which these are, and how long a
-- list is, without a look at the rows.
DROP INDEX pipelines_ref;
DROP INDEX pipelines_status;
DROP INDEX pipelines_updated;
DROP INDEX pipelines_person;
DROP INDEX pipelines_sha;
CREATE INDEX pipelines_ref ON pipelines (project_id, ref_name, id, source);
CREATE INDEX pipelines_status ON pipelines (project_id, status, id, source);
CREATE INDEX pipelines_updated ON pipelines (project_id, updated_at, id, source);
CREATE INDEX pipelines_person ON pipelines (project_id, user_id, id, source);
CREATE INDEX pipelines_sha ON pipelines (project_id, sha, id, source);
-- Few have a broken configuration.
CREATE INDEX pipelines_broken ON pipelines (project_id, id, source) WHERE yaml_errors IS NOT NULL;
CREATE INDEX jobs_runner_status ON jobs (runner_id, status, id) WHERE runner_id IS NOT NULL;
