ALTER TABLE pipelines DROP COLUMN cancel_on_failure;
