-- How often a project counted, for the numbers of its deployments.
CREATE TABLE deployment_numbers (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    last BIGINT NOT NULL
);

-- What was brought to an environment, or is to be. `job_id` is the job that does it; none where somebody else reports it.
-- `on_stop` names the job that stops the environment, `environment_url` is the address that the job told.
CREATE TABLE deployments (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    environment_id BIGINT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    ref_name TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    sha TEXT NOT NULL,
    user_id BIGINT,
    job_id BIGINT,
    status TEXT NOT NULL,
    on_stop TEXT,
    environment_url TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    finished_at BIGINT,
    UNIQUE (project_id, iid)
);
CREATE INDEX deployments_project ON deployments (project_id, id);
CREATE INDEX deployments_status ON deployments (project_id, status, id);
CREATE INDEX deployments_updated ON deployments (project_id, updated_at, id);
CREATE INDEX deployments_ref ON deployments (project_id, ref_name, id);
CREATE INDEX deployments_environment ON deployments (environment_id, id);
CREATE INDEX deployments_environment_status ON deployments (environment_id, status, finished_at, id);
CREATE INDEX deployments_environment_updated ON deployments (environment_id, updated_at, id);
CREATE UNIQUE INDEX deployments_job ON deployments (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX deployments_person ON deployments (user_id) WHERE user_id IS NOT NULL;

-- What a deployment brought to its environment. `deployed_at` is since when it is there.
CREATE TABLE deployed_merge_requests (
    deployment_id BIGINT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    environment_id BIGINT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    deployed_at BIGINT NOT NULL,
    PRIMARY KEY (deployment_id, merge_request_id)
);
CREATE UNIQUE INDEX deployed_merge_requests_environment ON deployed_merge_requests (environment_id, merge_request_id);
CREATE INDEX deployed_merge_requests_item ON deployed_merge_requests (merge_request_id, deployed_at);
CREATE INDEX deployed_merge_requests_time ON deployed_merge_requests (deployed_at);
