-- Lists walk this index alone until they know which projects they show.
CREATE INDEX projects_listed ON projects (id, visibility, archived) WHERE deleted_at IS NULL;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id, archived) WHERE deleted_at IS NULL;

-- Which projects contain a text: three letters at a time.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX projects_search ON projects USING gin (
    path gin_trgm_ops, name gin_trgm_ops, description gin_trgm_ops, full_path gin_trgm_ops, full_name gin_trgm_ops
);
