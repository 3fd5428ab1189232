DROP TRIGGER projects_search_update;
DROP TRIGGER projects_search_delete;
DROP TRIGGER projects_search_insert;
DROP TABLE projects_search;
DROP INDEX projects_listed;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id);
