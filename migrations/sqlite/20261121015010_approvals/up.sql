-- How a project wants its merge requests approved; the defaults hold where there is no row.
CREATE TABLE approval_settings (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    reset_on_push BOOLEAN NOT NULL,
    selective_removals BOOLEAN NOT NULL,
    no_overriding BOOLEAN NOT NULL,
    author_approval BOOLEAN NOT NULL,
    no_committer_approval BOOLEAN NOT NULL,
    require_password BOOLEAN NOT NULL
);

-- Who has to approve. Without a merge request a rule is one of the project, for all its merge requests.
CREATE TABLE approval_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    merge_request_id BIGINT REFERENCES merge_requests (id) ON DELETE CASCADE,
    -- The rule of the project that it was made from.
    source_rule_id BIGINT REFERENCES approval_rules (id) ON DELETE SET NULL,
    name TEXT NOT NULL,
    rule_type TEXT NOT NULL,
    report_type TEXT,
    -- Of the file of code owners.
    section TEXT,
    approvals_required BIGINT NOT NULL,
    applies_to_all_protected_branches BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX approval_rules_project ON approval_rules (project_id, id);
CREATE INDEX approval_rules_merge_request ON approval_rules (merge_request_id, id);
CREATE INDEX approval_rules_source ON approval_rules (source_rule_id);

CREATE TABLE approval_rule_users (
    rule_id BIGINT NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, user_id)
);
CREATE INDEX approval_rule_users_user ON approval_rule_users (user_id, rule_id);

CREATE TABLE approval_rule_groups (
    rule_id BIGINT NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, namespace_id)
);
CREATE INDEX approval_rule_groups_namespace ON approval_rule_groups (namespace_id, rule_id);

-- A rule with none counts for every target.
CREATE TABLE approval_rule_branches (
    rule_id BIGINT NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
    protected_branch_id BIGINT NOT NULL REFERENCES protected_branches (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, protected_branch_id)
);
CREATE INDEX approval_rule_branches_branch ON approval_rule_branches (protected_branch_id);

CREATE TABLE approvals (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    UNIQUE (merge_request_id, user_id)
);
CREATE INDEX approvals_user ON approvals (user_id, merge_request_id);

-- Whose commits a merge request brings.
CREATE TABLE merge_request_committers (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (merge_request_id, user_id)
);
CREATE INDEX merge_request_committers_user ON merge_request_committers (user_id);
