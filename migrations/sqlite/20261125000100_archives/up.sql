-- Archives of projects and groups that somebody asked for.
CREATE TABLE archive_exports (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    -- The description that its project gets in the archive.
    description TEXT,
    -- Where it is sent, and how; addresses of that kind let in whoever knows them.
    sealed TEXT,
    error TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    -- After this it goes.
    expires_at BIGINT NOT NULL
);
CREATE INDEX archive_exports_project ON archive_exports (project_id, id);
CREATE INDEX archive_exports_namespace ON archive_exports (namespace_id, id);
CREATE INDEX archive_exports_user ON archive_exports (user_id);
CREATE INDEX archive_exports_expires_at ON archive_exports (expires_at);

-- Archives that become projects and groups, and how far that has come.
CREATE TABLE archive_imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT UNIQUE REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT UNIQUE REFERENCES namespaces (id) ON DELETE CASCADE,
    -- Stands for authors who have no account here.
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    -- Values that stand for those of the archive, as JSON.
    overrides TEXT NOT NULL,
    -- Names it in logs, and makes the names of its files.
    correlation_id TEXT NOT NULL,
    -- Relation and line that were written last.
    relation BIGINT NOT NULL,
    line BIGINT NOT NULL,
    -- Counts the steps: a step that another one overtook writes nothing.
    steps BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX archive_imports_user ON archive_imports (user_id);

-- What ids of an archive are here, while it is imported.
CREATE TABLE archive_import_ids (
    import_id BIGINT NOT NULL REFERENCES archive_imports (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    PRIMARY KEY (import_id, relation, source_id)
);

-- Groups and projects that are fetched from another installation.
CREATE TABLE bulk_imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    -- The address of the source, and a token for it; nothing once it is not needed any more.
    url TEXT NOT NULL,
    sealed TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX bulk_imports_user ON bulk_imports (user_id, id);

CREATE TABLE bulk_import_entities (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    bulk_import_id BIGINT NOT NULL REFERENCES bulk_imports (id) ON DELETE CASCADE,
    -- The entity whose group this one lies in.
    parent_id BIGINT REFERENCES bulk_import_entities (id) ON DELETE CASCADE,
    entity_type TEXT NOT NULL,
    status TEXT NOT NULL,
    source_full_path TEXT NOT NULL,
    destination_slug TEXT NOT NULL,
    destination_namespace TEXT NOT NULL,
    migrate_projects BOOLEAN NOT NULL,
    -- What it became.
    project_id BIGINT REFERENCES projects (id) ON DELETE SET NULL,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE SET NULL,
    -- Whether the source was asked for an archive.
    is_requested BOOLEAN NOT NULL,
    attempts INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX bulk_import_entities_import ON bulk_import_entities (bulk_import_id, id);
CREATE INDEX bulk_import_entities_parent ON bulk_import_entities (parent_id);
CREATE INDEX bulk_import_entities_project ON bulk_import_entities (project_id);
CREATE INDEX bulk_import_entities_namespace ON bulk_import_entities (namespace_id);

-- What could not be fetched.
CREATE TABLE bulk_import_failures (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    entity_id BIGINT NOT NULL REFERENCES bulk_import_entities (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX bulk_import_failures_entity ON bulk_import_failures (entity_id, id);
