-- Files that jobs leave behind. `location` names the content among the objects; the row comes after it, and goes first.
CREATE TABLE job_artifacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    job_id BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL,
    file_type TEXT NOT NULL,
    file_format TEXT NOT NULL,
    filename TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    location TEXT NOT NULL,
    expires_at BIGINT,
    -- Whether it stays beyond that, as the newest of its ref.
    locked BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (job_id, file_type)
);
CREATE INDEX job_artifacts_expiry ON job_artifacts (expires_at) WHERE expires_at IS NOT NULL AND NOT locked;
CREATE INDEX job_artifacts_project ON job_artifacts (project_id, pipeline_id);
