-- Who may send alerts to a project, and with which key.
CREATE TABLE alert_integrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- What its address ends in.
    endpoint TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    token_digest TEXT NOT NULL,
    sealed TEXT NOT NULL,
    -- JSON: where the fields of an alert lie in what is sent.
    mappings TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, endpoint)
);

-- What becomes of the alerts of a project; one without a row does as is usual.
CREATE TABLE alert_settings (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    create_issue BOOLEAN NOT NULL,
    send_email BOOLEAN NOT NULL,
    auto_close_incident BOOLEAN NOT NULL
);

CREATE TABLE alert_numbers (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    last BIGINT NOT NULL
);

CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    service TEXT,
    monitoring_tool TEXT,
    -- A JSON list.
    hosts TEXT NOT NULL,
    severity TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- How often it was reported.
    events BIGINT NOT NULL,
    fingerprint TEXT,
    environment TEXT,
    runbook TEXT,
    is_prometheus BOOLEAN NOT NULL,
    payload TEXT NOT NULL,
    issue_id BIGINT REFERENCES issues (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, iid)
);
CREATE UNIQUE INDEX alerts_open ON alerts (project_id, fingerprint) WHERE fingerprint IS NOT NULL AND status <> 'resolved';
CREATE INDEX alerts_issue ON alerts (issue_id) WHERE issue_id IS NOT NULL;
