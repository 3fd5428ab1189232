-- Whether a runner of the whole installation does a job: projects with few of these come first.
ALTER TABLE jobs ADD COLUMN on_instance_runner BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX jobs_waiting ON jobs (project_id, id) WHERE status = 'pending' AND kind = 'build';
CREATE INDEX jobs_on_instance_runners ON jobs (project_id) WHERE status = 'running' AND on_instance_runner;

-- What is known of a job's log beside the file that holds it: its size once it is complete, whether only developers may
-- see it, and, sealed and only while the job runs, what is to be hidden in it.
CREATE TABLE job_logs (
    job_id BIGINT PRIMARY KEY NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    size BIGINT,
    restricted BOOLEAN NOT NULL,
    hidden TEXT COLLATE "C"
);
