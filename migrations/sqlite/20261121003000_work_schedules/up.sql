-- When work that is done again and again is asked for next. One row for all processes on this database.
CREATE TABLE work_schedules (
    kind TEXT PRIMARY KEY NOT NULL,
    next_at BIGINT NOT NULL
);
