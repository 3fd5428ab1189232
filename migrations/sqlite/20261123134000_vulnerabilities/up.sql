-- Weaknesses that scanners reported: each once, however often it is reported.
CREATE TABLE vulnerabilities (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    -- What tells it from others, the same in every report.
    uuid TEXT NOT NULL,
    report_type TEXT NOT NULL,
    scanner_id TEXT NOT NULL,
    scanner_name TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    message TEXT,
    solution TEXT,
    severity TEXT NOT NULL,
    confidence TEXT NOT NULL,
    state TEXT NOT NULL,
    -- JSON
    identifiers TEXT NOT NULL,
    location TEXT NOT NULL,
    links TEXT NOT NULL,
    resolved_on_default_branch BOOLEAN NOT NULL,
    dismissal_reason TEXT,
    -- The newest that reported it.
    pipeline_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, uuid)
);
CREATE INDEX vulnerabilities_project ON vulnerabilities (project_id, id);
CREATE INDEX vulnerabilities_scanner ON vulnerabilities (project_id, report_type, scanner_id, pipeline_id);

-- What people said of a vulnerability, each with the state that it went to.
CREATE TABLE vulnerability_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    vulnerability_id BIGINT NOT NULL REFERENCES vulnerabilities (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    state TEXT NOT NULL,
    dismissal_reason TEXT,
    comment TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX vulnerability_changes_vulnerability ON vulnerability_changes (vulnerability_id, id);
CREATE INDEX vulnerability_changes_user ON vulnerability_changes (user_id) WHERE user_id IS NOT NULL;
