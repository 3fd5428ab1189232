-- Iterations: spans of days in which a group works, one after the other in a cadence. Days are stored as the moment they begin.
CREATE TABLE iteration_cadences (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX iteration_cadences_namespace_id ON iteration_cadences (namespace_id);

CREATE TABLE iterations (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    iid BIGINT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    cadence_id BIGINT NOT NULL REFERENCES iteration_cadences (id) ON DELETE CASCADE,
    -- Counts within the cadence, in the order of days.
    sequence BIGINT NOT NULL,
    title TEXT,
    description TEXT,
    start_date BIGINT NOT NULL,
    due_date BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, iid)
);
CREATE INDEX iterations_cadence_id ON iterations (cadence_id, start_date);
CREATE INDEX issues_iteration_id ON issues (iteration_id);
