-- What the artifacts of a project take is summed up without reading their rows.
DROP INDEX job_artifacts_project;
CREATE INDEX job_artifacts_project ON job_artifacts (project_id, pipeline_id, size);
