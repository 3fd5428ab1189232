-- What a pipeline was made for beside a commit, and by what. `root_id` is the pipeline at the top of a tree of them;
-- `parent_job_id` the bridge that made it. `auto_cancel` says what a newer pipeline of the same ref ends.
ALTER TABLE pipelines ADD COLUMN name TEXT;
ALTER TABLE pipelines ADD COLUMN failure_reason TEXT;
ALTER TABLE pipelines ADD COLUMN root_id BIGINT;
ALTER TABLE pipelines ADD COLUMN parent_job_id BIGINT;
ALTER TABLE pipelines ADD COLUMN merge_request_id BIGINT;
ALTER TABLE pipelines ADD COLUMN schedule_id BIGINT;
ALTER TABLE pipelines ADD COLUMN trigger_id BIGINT;
ALTER TABLE pipelines ADD COLUMN auto_cancel TEXT;
ALTER TABLE pipelines ADD COLUMN auto_canceled_by BIGINT;
CREATE INDEX pipelines_source ON pipelines (project_id, source, id);
CREATE INDEX pipelines_person ON pipelines (project_id, user_id, id);
CREATE INDEX pipelines_root ON pipelines (root_id, id) WHERE root_id IS NOT NULL;
CREATE INDEX pipelines_parent_job ON pipelines (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
CREATE INDEX pipelines_merge_request ON pipelines (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX pipelines_schedule ON pipelines (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX pipelines_alive ON pipelines (project_id, ref_name, id)
WHERE status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled');

-- What a runner or the scheduler gets of a job, as JSON: the same job of ten thousand pipelines is one row.
CREATE TABLE job_specs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    -- A JSON list; NULL where none were given.
    tags TEXT,
    UNIQUE (project_id, digest)
);

-- Jobs of which only one runs at a time; `holder_id` is the one that may.
CREATE TABLE resource_groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    process_mode TEXT NOT NULL,
    holder_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, key)
);

-- `position` is the place among the jobs of the pipeline, `run_when` says what of what came before lets it begin, `needs`
-- is a JSON list of names (NULL: all jobs of earlier stages), `start_in` and `timeout` are seconds. `attempt` counts how
-- often it was tried before. Of the token only the digest is known.
ALTER TABLE jobs ADD COLUMN spec_id BIGINT;
ALTER TABLE jobs ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN run_when TEXT NOT NULL DEFAULT 'on_success';
ALTER TABLE jobs ADD COLUMN needs TEXT;
ALTER TABLE jobs ADD COLUMN interruptible BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE jobs ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN environment TEXT;
ALTER TABLE jobs ADD COLUMN resource_group_id BIGINT;
ALTER TABLE jobs ADD COLUMN runner_id BIGINT;
ALTER TABLE jobs ADD COLUMN start_in BIGINT;
ALTER TABLE jobs ADD COLUMN scheduled_at BIGINT;
ALTER TABLE jobs ADD COLUMN timeout BIGINT;
ALTER TABLE jobs ADD COLUMN erased_at BIGINT;
ALTER TABLE jobs ADD COLUMN token_digest TEXT;
DROP INDEX jobs_project;
CREATE INDEX jobs_project ON jobs (project_id, kind, id);
CREATE INDEX jobs_status ON jobs (project_id, kind, status, id);
CREATE INDEX jobs_runner ON jobs (runner_id, id) WHERE runner_id IS NOT NULL;
CREATE INDEX jobs_spec ON jobs (spec_id) WHERE spec_id IS NOT NULL;
CREATE INDEX jobs_group ON jobs (resource_group_id, status, id) WHERE resource_group_id IS NOT NULL;
CREATE INDEX jobs_scheduled ON jobs (scheduled_at) WHERE status = 'scheduled';
CREATE INDEX jobs_pending ON jobs (updated_at) WHERE status = 'pending';
CREATE INDEX jobs_running ON jobs (updated_at) WHERE status = 'running';
CREATE UNIQUE INDEX jobs_token ON jobs (token_digest) WHERE token_digest IS NOT NULL;

-- What whoever asked for a pipeline set for it.
CREATE TABLE pipeline_variables (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    variable_type TEXT NOT NULL,
    value TEXT NOT NULL,
    raw BOOLEAN NOT NULL,
    UNIQUE (pipeline_id, key)
);

-- What whoever played a job by hand set for it.
CREATE TABLE job_variables (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    job_id BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (job_id, key)
);
