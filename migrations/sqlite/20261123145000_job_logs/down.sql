DROP TABLE job_logs;
DROP INDEX jobs_on_instance_runners;
DROP INDEX jobs_waiting;
ALTER TABLE jobs DROP COLUMN on_instance_runner;
