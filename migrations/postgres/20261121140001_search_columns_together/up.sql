-- A search looks into one index of three letters instead of three. Lists say the same expressions, letter for letter.
-- The columns sort by bytes; to compare without regard to case is for the language of the database.
DROP INDEX projects_search;
CREATE INDEX projects_search ON projects USING gin (
    (path || E'\n' || name || E'\n' || COALESCE(description, '')) COLLATE "default" gin_trgm_ops
);
CREATE INDEX projects_search_with_namespaces ON projects USING gin (
    (full_path || E'\n' || full_name || E'\n' || COALESCE(description, '')) COLLATE "default" gin_trgm_ops
);
