-- Lists of merge requests by their deployments read indexes alone, in a project and everywhere.
ALTER TABLE deployed_merge_requests ADD COLUMN project_id BIGINT NOT NULL DEFAULT 0;
UPDATE deployed_merge_requests SET project_id = (SELECT e.project_id FROM environments e WHERE e.id = environment_id);
DROP INDEX deployed_merge_requests_environment_time;
CREATE INDEX deployed_merge_requests_environment_time ON deployed_merge_requests (environment_id, deployed_at, project_id, merge_request_id);
CREATE INDEX deployed_merge_requests_project_time ON deployed_merge_requests (project_id, deployed_at, merge_request_id);
