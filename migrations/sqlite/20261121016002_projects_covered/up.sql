-- Lists say in words what these indexes hold, and are answered from them alone only where every word is a column.
DROP INDEX projects_listed;
CREATE INDEX projects_listed ON projects (id, visibility, archived, deleted_at) WHERE deleted_at IS NULL;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id, archived, deleted_at) WHERE deleted_at IS NULL;
