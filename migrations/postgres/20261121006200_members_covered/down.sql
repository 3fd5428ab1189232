CREATE INDEX project_access_project_id ON project_access (project_id, user_id);
CREATE INDEX namespace_access_namespace_id ON namespace_access (namespace_id, user_id);
DROP INDEX project_access_people;
DROP INDEX namespace_access_people;
