-- Programs that do jobs. Of a token only the digest is known, and its beginning, by which people tell runners apart.
CREATE TABLE runners (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    runner_type TEXT NOT NULL,
    token_digest TEXT NOT NULL UNIQUE,
    short_token TEXT NOT NULL,
    created_by_person BOOLEAN NOT NULL,
    creator_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    -- Of a group's runner.
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    description TEXT,
    maintenance_note TEXT,
    active BOOLEAN NOT NULL,
    locked BOOLEAN NOT NULL,
    run_untagged BOOLEAN NOT NULL,
    access_level TEXT NOT NULL,
    -- Seconds.
    maximum_timeout BIGINT,
    -- A JSON list.
    tags TEXT NOT NULL,
    name TEXT,
    version TEXT,
    revision TEXT,
    platform TEXT,
    architecture TEXT,
    ip_address TEXT,
    contacted_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX runners_group ON runners (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX runners_creator ON runners (creator_id) WHERE creator_id IS NOT NULL;

-- Whose jobs a project runner does; the first is its owner.
CREATE TABLE runner_projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    runner_id BIGINT NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    UNIQUE (runner_id, project_id)
);
CREATE INDEX runner_projects_project ON runner_projects (project_id, runner_id);

-- Programs that share a runner's token.
CREATE TABLE runner_managers (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    runner_id BIGINT NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
    system_id TEXT NOT NULL,
    version TEXT,
    revision TEXT,
    platform TEXT,
    architecture TEXT,
    ip_address TEXT,
    created_at BIGINT NOT NULL,
    contacted_at BIGINT,
    UNIQUE (runner_id, system_id)
);

-- With which runners of the whole installation register: one row at most.
CREATE TABLE instance_runner_registration (
    id BIGINT PRIMARY KEY NOT NULL,
    token_digest TEXT NOT NULL
);

-- Runners show the token with which they register, and not where.
CREATE INDEX project_settings_runners_token ON project_settings ((settings ->> 'runners_token'));
CREATE INDEX namespaces_runners_token ON namespaces ((settings ->> 'runners_token'));
