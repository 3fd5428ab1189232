-- Integrations of projects, groups, and the installation, whose rows name neither. `flags` has a bit for each event.
CREATE TABLE integrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    slug TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    inherits BOOLEAN NOT NULL,
    flags BIGINT NOT NULL,
    -- A JSON object of what is no secret; the secrets are sealed as another one.
    properties TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX integrations_project ON integrations (project_id, slug) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX integrations_group ON integrations (namespace_id, slug) WHERE namespace_id IS NOT NULL;
CREATE UNIQUE INDEX integrations_instance ON integrations (slug) WHERE project_id IS NULL AND namespace_id IS NULL;

-- Webhooks of projects and groups, and system hooks, which name neither.
CREATE TABLE hooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    name TEXT,
    description TEXT,
    flags BIGINT NOT NULL,
    -- URL, token, URL variables and headers, as JSON.
    sealed TEXT NOT NULL,
    enable_ssl_verification BOOLEAN NOT NULL,
    branch_filter_strategy TEXT NOT NULL,
    push_events_branch_filter TEXT,
    custom_webhook_template TEXT,
    failures INTEGER NOT NULL,
    backoffs INTEGER NOT NULL,
    disabled_until BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX hooks_project ON hooks (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX hooks_group ON hooks (namespace_id) WHERE namespace_id IS NOT NULL;
CREATE INDEX hooks_instance ON hooks (id) WHERE project_id IS NULL AND namespace_id IS NULL;

-- What happened, once for all receivers. The project may be gone by the time it is told.
CREATE TABLE hook_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    uuid TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    header TEXT NOT NULL,
    project_id BIGINT,
    payload TEXT NOT NULL,
    -- What is to be read from git before it is sent, as JSON; nothing once that is done.
    gaps TEXT,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX hook_events_uuid ON hook_events (uuid);
CREATE INDEX hook_events_age ON hook_events (created_at);

-- What is still to be sent: a row goes once it is.
CREATE TABLE hook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    event_id BIGINT NOT NULL REFERENCES hook_events (id) ON DELETE CASCADE,
    hook_id BIGINT REFERENCES hooks (id) ON DELETE CASCADE,
    integration_id BIGINT REFERENCES integrations (id) ON DELETE CASCADE,
    -- Receiver and object: rows of one lane are sent one after the other.
    lane TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    run_at BIGINT NOT NULL,
    locked_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX hook_deliveries_due ON hook_deliveries (run_at, id);
CREATE INDEX hook_deliveries_lane ON hook_deliveries (lane, id);
CREATE INDEX hook_deliveries_event ON hook_deliveries (event_id);
CREATE INDEX hook_deliveries_hook ON hook_deliveries (hook_id) WHERE hook_id IS NOT NULL;
CREATE INDEX hook_deliveries_integration ON hook_deliveries (integration_id) WHERE integration_id IS NOT NULL;

-- What was sent, and what came back.
CREATE TABLE hook_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    hook_id BIGINT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    header TEXT NOT NULL,
    url TEXT NOT NULL,
    request_headers TEXT NOT NULL,
    request_data TEXT NOT NULL,
    response_headers TEXT NOT NULL,
    response_body TEXT NOT NULL,
    response_status TEXT NOT NULL,
    duration DOUBLE NOT NULL,
    requested_by BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX hook_logs_hook ON hook_logs (hook_id, id);
CREATE INDEX hook_logs_age ON hook_logs (created_at);
