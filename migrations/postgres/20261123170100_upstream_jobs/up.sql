-- What a job hands to those that depend on it, by the dotenv report that it brought: a JSON list of names and values,
-- sealed.
CREATE TABLE inherited_variables (
    job_id BIGINT PRIMARY KEY NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    sealed TEXT COLLATE "C" NOT NULL
);

-- The pipelines of other projects whose status bridges take.
CREATE TABLE mirrored_pipelines (
    job_id BIGINT PRIMARY KEY NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE
);
CREATE INDEX mirrored_pipelines_pipeline ON mirrored_pipelines (pipeline_id);
