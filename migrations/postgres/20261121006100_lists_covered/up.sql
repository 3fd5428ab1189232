-- A list is answered from an index alone where that holds every column of the question, those of the condition, too.
DROP INDEX namespaces_groups;
CREATE INDEX namespaces_groups ON namespaces (id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_name;
CREATE INDEX namespaces_groups_name ON namespaces (name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_path;
CREATE INDEX namespaces_groups_path ON namespaces (path, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_visibility;
CREATE INDEX namespaces_groups_visibility ON namespaces (visibility, name, id, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX namespaces_groups_parent;
CREATE INDEX namespaces_groups_parent ON namespaces (parent_id, name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
DROP INDEX projects_tree;
CREATE INDEX projects_tree ON projects (path_key, id, visibility, archived, deleted_at) WHERE deleted_at IS NULL;
DROP INDEX projects_in_namespace;
CREATE INDEX projects_in_namespace ON projects (namespace_id, id, visibility, archived, deleted_at) WHERE deleted_at IS NULL;
DROP INDEX namespaces_groups_tree;
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, name, id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
