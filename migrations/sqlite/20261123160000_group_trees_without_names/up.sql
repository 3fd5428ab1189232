-- Databases that took 20261123100500 as it was at first have the name in this index: see there.
DROP INDEX namespaces_groups_tree;
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, lower(name), id, visibility, kind, deleted_at) WHERE kind = 'group' AND deleted_at IS NULL;
