DROP INDEX projects_search_with_namespaces;
DROP INDEX projects_search;
CREATE INDEX projects_search ON projects USING gin (
    path gin_trgm_ops, name gin_trgm_ops, description gin_trgm_ops, full_path gin_trgm_ops, full_name gin_trgm_ops
);
