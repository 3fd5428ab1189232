DROP INDEX projects_search;
DROP INDEX projects_listed;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id);
