-- Every filter of the lists of deployments with every order: a page is found without a walk.
CREATE INDEX deployments_status_updated ON deployments (project_id, status, updated_at, id);
CREATE INDEX deployments_status_ref ON deployments (project_id, status, ref_name, id);
CREATE INDEX deployments_environment_ref ON deployments (environment_id, ref_name, id);
CREATE INDEX deployments_environment_status_id ON deployments (environment_id, status, id);
CREATE INDEX deployments_environment_status_updated ON deployments (environment_id, status, updated_at, id);
CREATE INDEX deployments_environment_status_ref ON deployments (environment_id, status, ref_name, id);
CREATE INDEX deployed_merge_requests_environment_time ON deployed_merge_requests (environment_id, deployed_at, merge_request_id);

-- How long the environment stays, as the job was told; variables are written out.
ALTER TABLE deployments ADD COLUMN auto_stop_in TEXT;

-- Projects whose environments of branches are being chosen for removal, and since when.
CREATE TABLE review_app_removals (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    begun_at BIGINT NOT NULL
);
