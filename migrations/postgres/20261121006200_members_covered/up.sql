-- How many people a group or project has is read from the index alone.
CREATE INDEX namespace_access_people ON namespace_access (namespace_id, user_id, access_level, until);
CREATE INDEX project_access_people ON project_access (project_id, user_id, access_level, until);
DROP INDEX namespace_access_namespace_id;
DROP INDEX project_access_project_id;
