-- The run of a schedule that made the pipeline: a run that is done once more after a crash makes no second one.
ALTER TABLE pipelines ADD COLUMN schedule_run BIGINT;
CREATE UNIQUE INDEX pipelines_schedule_run ON pipelines (schedule_run) WHERE schedule_run IS NOT NULL;
