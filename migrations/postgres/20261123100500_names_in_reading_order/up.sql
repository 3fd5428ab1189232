-- Names are ordered without regard to case, then by bytes. The index of trees leaves out the name itself: beside a long path
-- and its small letters, an entry would be larger than a page allows.
DROP INDEX namespaces_groups_name;
CREATE INDEX namespaces_groups_name ON namespaces ((lower(name COLLATE "default") COLLATE "C"), name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_path;
CREATE INDEX namespaces_groups_path ON namespaces ((lower(path COLLATE "default") COLLATE "C"), path, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_visibility;
CREATE INDEX namespaces_groups_visibility ON namespaces (visibility, (lower(name COLLATE "default") COLLATE "C"), name, id, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_parent;
CREATE INDEX namespaces_groups_parent ON namespaces (parent_id, (lower(name COLLATE "default") COLLATE "C"), name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_tree;
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, (lower(name COLLATE "default") COLLATE "C"), id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX projects_name;
CREATE INDEX projects_name ON projects ((lower(name COLLATE "default") COLLATE "C"), name, id);
DROP INDEX projects_path;
CREATE INDEX projects_path ON projects ((lower(path COLLATE "default") COLLATE "C"), path, id);
DROP INDEX users_name;
CREATE INDEX users_name ON users ((lower(name COLLATE "default") COLLATE "C"), name, id);
DROP INDEX users_username;
CREATE INDEX users_username ON users ((lower(username COLLATE "default") COLLATE "C"), username, id);
