-- When nothing is to be deployed: from one cron expression to the next moment of the other.
CREATE TABLE freeze_periods (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    freeze_start TEXT NOT NULL,
    freeze_end TEXT NOT NULL,
    cron_timezone TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX freeze_periods_project ON freeze_periods (project_id, id);
