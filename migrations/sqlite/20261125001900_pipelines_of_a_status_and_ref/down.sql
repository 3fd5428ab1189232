DROP INDEX pipelines_project;
CREATE INDEX pipelines_project ON pipelines (project_id, id);
DROP INDEX pipelines_status_ref;
