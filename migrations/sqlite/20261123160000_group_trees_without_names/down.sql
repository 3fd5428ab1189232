DROP INDEX namespaces_groups_tree;
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, lower(name), id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
