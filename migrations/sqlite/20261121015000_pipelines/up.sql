-- How often a project counted, for the numbers of its pipelines.
CREATE TABLE pipeline_numbers (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    last BIGINT NOT NULL
);

-- All that was asked of one commit at one time. The status follows from that of the jobs, and is kept by what moves them.
CREATE TABLE pipelines (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    sha TEXT NOT NULL,
    before_sha TEXT,
    ref_name TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    protected BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    status TEXT NOT NULL,
    -- Succeeded, though something failed that may.
    warnings BOOLEAN NOT NULL DEFAULT FALSE,
    yaml_errors TEXT,
    user_id BIGINT,
    coverage TEXT,
    duration BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    UNIQUE (project_id, iid)
);
CREATE INDEX pipelines_project ON pipelines (project_id, id);
CREATE INDEX pipelines_sha ON pipelines (project_id, sha, id);
CREATE INDEX pipelines_ref ON pipelines (project_id, ref_name, id);
CREATE INDEX pipelines_status ON pipelines (project_id, status, id);
CREATE INDEX pipelines_updated ON pipelines (project_id, updated_at, id);

-- What is done for a pipeline; `kind` says by whom. Statuses that others report are jobs, too.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    stage_position BIGINT NOT NULL,
    name TEXT NOT NULL,
    sha TEXT NOT NULL,
    ref_name TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    protected BOOLEAN NOT NULL,
    status TEXT NOT NULL,
    -- A newer one of that name took its place.
    retried BOOLEAN NOT NULL,
    allow_failure BOOLEAN NOT NULL,
    failure_reason TEXT,
    user_id BIGINT,
    target_url TEXT,
    description TEXT,
    coverage DOUBLE,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    queued_at BIGINT,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX jobs_pipeline ON jobs (pipeline_id, retried, id);
CREATE INDEX jobs_sha ON jobs (project_id, sha, id);
CREATE INDEX jobs_project ON jobs (project_id, id);
