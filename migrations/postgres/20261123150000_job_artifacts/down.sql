DROP TABLE job_artifacts;
