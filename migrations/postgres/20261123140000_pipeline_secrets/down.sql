-- What is sealed cannot be read without the key.
DELETE FROM job_variables WHERE sealed IS NOT NULL;
DROP INDEX job_variables_clear;
ALTER TABLE job_variables DROP COLUMN sealed;
ALTER TABLE job_variables RENAME COLUMN clear TO value;
DELETE FROM pipeline_variables WHERE sealed IS NOT NULL;
DROP INDEX pipeline_variables_clear;
ALTER TABLE pipeline_variables DROP COLUMN sealed;
ALTER TABLE pipeline_variables RENAME COLUMN clear TO value;
