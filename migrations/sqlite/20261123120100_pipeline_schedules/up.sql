-- Pipelines that are made again and again. `next_run_at` is found by the index of those that do not rest.
CREATE TABLE pipeline_schedules (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    -- With whose rights; without one no pipelines are made.
    owner_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    description TEXT NOT NULL,
    ref_name TEXT NOT NULL,
    cron TEXT NOT NULL,
    cron_timezone TEXT NOT NULL,
    next_run_at BIGINT,
    active BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX pipeline_schedules_project ON pipeline_schedules (project_id, id);
CREATE INDEX pipeline_schedules_owner ON pipeline_schedules (owner_id);
CREATE INDEX pipeline_schedules_due ON pipeline_schedules (active, next_run_at, id);

-- What the pipelines of a schedule are told; the values as the key of the data folder has sealed them.
CREATE TABLE pipeline_schedule_variables (
    schedule_id BIGINT NOT NULL REFERENCES pipeline_schedules (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (schedule_id, key)
);
