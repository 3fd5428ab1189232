-- Where the jobs of a project deploy to. The slug is made of the first name and stays; `auto_stop_at` is when an environment
-- stops by itself, `auto_delete_at` when a stopped one goes.
CREATE TABLE environments (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    external_url TEXT,
    tier TEXT NOT NULL,
    state TEXT NOT NULL,
    auto_stop_at BIGINT,
    auto_delete_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name),
    UNIQUE (project_id, slug)
);
CREATE INDEX environments_project ON environments (project_id, id);
CREATE INDEX environments_state ON environments (project_id, state, id);
CREATE INDEX environments_auto_stop ON environments (auto_stop_at) WHERE auto_stop_at IS NOT NULL;
CREATE INDEX environments_auto_delete ON environments (auto_delete_at) WHERE auto_delete_at IS NOT NULL;
CREATE INDEX environments_name ON environments (name);
