-- Names are ordered without regard to case, then by bytes.
DROP INDEX namespaces_groups_name;
CREATE INDEX namespaces_groups_name ON namespaces (lower(name), name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_path;
CREATE INDEX namespaces_groups_path ON namespaces (lower(path), path, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_visibility;
CREATE INDEX namespaces_groups_visibility ON namespaces (visibility, lower(name), name, id, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_parent;
CREATE INDEX namespaces_groups_parent ON namespaces (parent_id, lower(name), name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_tree;
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, lower(name), id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX projects_name;
CREATE INDEX projects_name ON projects (lower(name), name, id);
DROP INDEX projects_path;
CREATE INDEX projects_path ON projects (lower(path), path, id);
DROP INDEX users_name;
CREATE INDEX users_name ON users (lower(name), name, id);
DROP INDEX users_username;
CREATE INDEX users_username ON users (lower(username), username, id);
