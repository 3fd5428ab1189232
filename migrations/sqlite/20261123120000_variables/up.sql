-- What jobs are told by people: of a project, of a group and all in it, or, without either, of the whole installation.
CREATE TABLE variables (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    -- The value, as the key of the data folder has sealed it.
    sealed TEXT NOT NULL,
    protected BOOLEAN NOT NULL,
    masked BOOLEAN NOT NULL,
    hidden BOOLEAN NOT NULL,
    raw BOOLEAN NOT NULL,
    environment_scope TEXT NOT NULL,
    description TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, key, environment_scope),
    UNIQUE (namespace_id, key, environment_scope)
);
CREATE UNIQUE INDEX variables_instance ON variables (key) WHERE project_id IS NULL AND namespace_id IS NULL;
CREATE INDEX variables_project ON variables (project_id, id);
CREATE INDEX variables_namespace ON variables (namespace_id, id);
