-- Whether everything else of a pipeline ends when one of its jobs fails (workflow:auto_cancel:on_job_failure).
ALTER TABLE pipelines ADD COLUMN cancel_on_failure BOOLEAN NOT NULL DEFAULT FALSE;
