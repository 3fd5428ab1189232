-- What pushes must look like: of a project, or as a template of a group or of the installation, which has neither.
CREATE TABLE push_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT UNIQUE REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT UNIQUE REFERENCES namespaces (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    commit_message_regex TEXT,
    commit_message_negative_regex TEXT,
    branch_name_regex TEXT,
    author_email_regex TEXT,
    file_name_regex TEXT,
    deny_delete_tag BOOLEAN NOT NULL,
    member_check BOOLEAN NOT NULL,
    prevent_secrets BOOLEAN NOT NULL,
    max_file_size BIGINT NOT NULL,
    -- Null reads through to the rule of the installation.
    commit_committer_check BOOLEAN,
    commit_committer_name_check BOOLEAN,
    reject_unsigned_commits BOOLEAN,
    reject_non_dco_commits BOOLEAN
);
CREATE UNIQUE INDEX push_rules_of_installation ON push_rules ((project_id IS NULL))
    WHERE project_id IS NULL AND namespace_id IS NULL;
