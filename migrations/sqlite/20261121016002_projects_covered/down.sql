DROP INDEX projects_listed;
CREATE INDEX projects_listed ON projects (id, visibility, archived) WHERE deleted_at IS NULL;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id, archived) WHERE deleted_at IS NULL;
