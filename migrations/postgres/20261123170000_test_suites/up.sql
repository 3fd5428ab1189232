-- What the tests of a job came to, by the report that it brought. `name` is that of its suite, which copies of one job
-- share; the tests themselves lie beside the report, and `cases_size` says how many bytes they are.
CREATE TABLE test_suites (
    job_id BIGINT PRIMARY KEY NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    total_time DOUBLE PRECISION NOT NULL,
    success_count BIGINT NOT NULL,
    failed_count BIGINT NOT NULL,
    skipped_count BIGINT NOT NULL,
    error_count BIGINT NOT NULL,
    suite_error TEXT,
    cases_size BIGINT NOT NULL
);
CREATE INDEX test_suites_pipeline ON test_suites (pipeline_id, job_id);
