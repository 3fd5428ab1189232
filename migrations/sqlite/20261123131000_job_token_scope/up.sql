-- Projects whose jobs reach another one with their tokens.
CREATE TABLE job_token_projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    -- The one that lets them in.
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    target_project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    UNIQUE (project_id, target_project_id)
);
CREATE INDEX job_token_projects_target ON job_token_projects (target_project_id);

-- Groups whose projects' jobs do, those of the groups below included.
CREATE TABLE job_token_groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    target_group_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    UNIQUE (project_id, target_group_id)
);
CREATE INDEX job_token_groups_target ON job_token_groups (target_group_id);
