-- Security reports that jobs brought, and what became of them.
CREATE TABLE security_scans (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    job_id BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    report_type TEXT NOT NULL,
    status TEXT NOT NULL,
    -- JSON lists of sentences.
    errors TEXT NOT NULL,
    warnings TEXT NOT NULL,
    findings BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (job_id, report_type)
);
CREATE INDEX security_scans_pipeline ON security_scans (pipeline_id);
CREATE INDEX security_scans_newest ON security_scans (project_id, report_type, pipeline_id);
