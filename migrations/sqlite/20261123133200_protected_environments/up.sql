-- Who may deploy to an environment of a project, by its name, or to environments of a tier of all projects of a group.
CREATE TABLE protected_environments (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- How many approve a deployment where no rule says it.
    required_approval_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX protected_environments_project ON protected_environments (project_id, name) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX protected_environments_group ON protected_environments (group_id, name) WHERE group_id IS NOT NULL;

-- Whom a protection lets deploy or approve: one of a role, a person and a group.
CREATE TABLE protected_environment_access (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    protected_environment_id BIGINT NOT NULL REFERENCES protected_environments (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    access_level INTEGER,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    -- Whether who is in the groups above counts as in the group.
    with_inherited BOOLEAN NOT NULL,
    required_approvals BIGINT NOT NULL
);
CREATE INDEX protected_environment_access_of ON protected_environment_access (protected_environment_id, id);
CREATE INDEX protected_environment_access_user ON protected_environment_access (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX protected_environment_access_group ON protected_environment_access (group_id) WHERE group_id IS NOT NULL;

-- What people say of deployments that wait for it. `rule_id` is the record that lets them; 0 where none does.
CREATE TABLE deployment_approvals (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    deployment_id BIGINT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    status TEXT NOT NULL,
    comment TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (deployment_id, user_id, rule_id)
);
CREATE INDEX deployment_approvals_user ON deployment_approvals (user_id);
