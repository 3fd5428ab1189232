-- Where the contents of a project come from, and how far they have come. The project's row has the status.
CREATE TABLE imports (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- Whoever has no account here is this person.
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The name of the source, and where it is, as JSON.
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    -- Credentials; nothing once they are not needed any more.
    sealed TEXT,
    correlation_id TEXT NOT NULL,
    stage TEXT NOT NULL,
    -- How far the stage has come.
    cursor TEXT,
    -- Counts the steps: a step that another one overtook writes nothing.
    steps BIGINT NOT NULL,
    -- Failures of the source since the last step that succeeded.
    attempts INTEGER NOT NULL,
    -- Numbers of what was fetched and written, as JSON.
    stats TEXT NOT NULL,
    error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX imports_user ON imports (user_id);

-- What could not be brought along.
CREATE TABLE import_failures (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    -- Its name at the source.
    source_name TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX import_failures_project ON import_failures (project_id, id);

-- What was written already and has no number of its own by which that can be seen.
CREATE TABLE imported_objects (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    source_id TEXT NOT NULL,
    PRIMARY KEY (project_id, kind, source_id)
);

-- Who somebody at the source is here; nobody where user_id is missing.
CREATE TABLE imported_users (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    login TEXT NOT NULL,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, login)
);
CREATE INDEX imported_users_user ON imported_users (user_id) WHERE user_id IS NOT NULL;
