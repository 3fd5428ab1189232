DROP INDEX pipelines_schedule_run;
ALTER TABLE pipelines DROP COLUMN schedule_run;
