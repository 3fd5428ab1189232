DROP INDEX job_artifacts_project;
CREATE INDEX job_artifacts_project ON job_artifacts (project_id, pipeline_id);
