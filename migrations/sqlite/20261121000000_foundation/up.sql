-- People.
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    public_email TEXT,
    commit_email TEXT,
    password_hash TEXT,
    state TEXT NOT NULL,
    admin BOOLEAN NOT NULL,
    external BOOLEAN NOT NULL,
    bot BOOLEAN NOT NULL,
    avatar TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    created_by BIGINT,
    confirmed_at BIGINT,
    current_sign_in_at BIGINT,
    last_sign_in_at BIGINT,
    last_activity_at BIGINT,
    sign_in_count BIGINT NOT NULL,
    projects_limit BIGINT NOT NULL,
    can_create_group BOOLEAN NOT NULL,
    private_profile BOOLEAN NOT NULL,
    note TEXT
);

CREATE TABLE user_profiles (
    user_id BIGINT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    bio TEXT NOT NULL,
    location TEXT,
    skype TEXT NOT NULL,
    linkedin TEXT NOT NULL,
    twitter TEXT NOT NULL,
    website_url TEXT NOT NULL,
    organization TEXT NOT NULL,
    job_title TEXT NOT NULL,
    pronouns TEXT,
    theme_id BIGINT NOT NULL,
    color_scheme_id BIGINT NOT NULL
);

CREATE TABLE access_tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    refresh_digest TEXT UNIQUE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked BOOLEAN NOT NULL,
    last_used_at BIGINT,
    family_id BIGINT
);
CREATE INDEX access_tokens_user_id ON access_tokens (user_id, id);
CREATE INDEX access_tokens_family_id ON access_tokens (family_id);

-- Groups and personal namespaces.
CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    full_path TEXT NOT NULL,
    path_key TEXT NOT NULL UNIQUE,
    full_name TEXT NOT NULL,
    parent_id BIGINT REFERENCES namespaces (id),
    owner_id BIGINT REFERENCES users (id),
    visibility TEXT NOT NULL,
    description TEXT,
    avatar TEXT,
    default_branch_protection INTEGER,
    project_creation_level TEXT NOT NULL,
    subgroup_creation_level TEXT NOT NULL,
    -- Beyond the columns that lists filter by: one JSON object with the names of the API.
    settings TEXT NOT NULL DEFAULT '{}',
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX namespaces_parent_id ON namespaces (parent_id, id);
CREATE INDEX namespaces_owner_id ON namespaces (owner_id);

-- Paths that a group or project once had.
CREATE TABLE redirects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    path_key TEXT NOT NULL UNIQUE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    project_id BIGINT
);
CREATE INDEX redirects_project_id ON redirects (project_id);

CREATE TABLE projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id),
    creator_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    full_path TEXT NOT NULL,
    path_key TEXT NOT NULL UNIQUE,
    full_name TEXT NOT NULL,
    description TEXT,
    visibility TEXT NOT NULL,
    archived BOOLEAN NOT NULL,
    default_branch TEXT,
    repository_access TEXT NOT NULL,
    issues_access TEXT NOT NULL,
    merge_requests_access TEXT NOT NULL,
    forking_access TEXT NOT NULL,
    builds_access TEXT NOT NULL,
    wiki_access TEXT NOT NULL,
    snippets_access TEXT NOT NULL,
    star_count BIGINT NOT NULL,
    forks_count BIGINT NOT NULL,
    forked_from_id BIGINT,
    fork_root_id BIGINT,
    import_status TEXT NOT NULL,
    avatar TEXT,
    readme_path TEXT,
    license_path TEXT,
    last_activity_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX projects_namespace_id ON projects (namespace_id, id);
CREATE INDEX projects_creator_id ON projects (creator_id, id);
CREATE INDEX projects_forked_from_id ON projects (forked_from_id, id);
CREATE INDEX projects_fork_root_id ON projects (fork_root_id);
CREATE INDEX projects_visibility ON projects (visibility, id);
CREATE INDEX projects_name ON projects (name, id);
CREATE INDEX projects_path ON projects (path, id);
CREATE INDEX projects_last_activity_at ON projects (last_activity_at, id);
CREATE INDEX projects_updated_at ON projects (updated_at, id);
CREATE INDEX projects_star_count ON projects (star_count, id);

-- What a project is set to, beyond the columns that lists filter by: one JSON object with the names of the API.
CREATE TABLE project_settings (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    settings TEXT NOT NULL
);

CREATE TABLE project_statistics (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    commit_count BIGINT NOT NULL,
    repository_size BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE project_languages (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);
CREATE INDEX project_languages_name ON project_languages (name, project_id);

CREATE TABLE topics (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE project_topics (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    topic_id BIGINT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, topic_id)
);
CREATE INDEX project_topics_topic_id ON project_topics (topic_id, project_id);

CREATE TABLE project_stars (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    starred_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, project_id)
);
CREATE INDEX project_stars_project_id ON project_stars (project_id, user_id);

CREATE TABLE project_group_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, namespace_id)
);
CREATE INDEX project_group_links_namespace_id ON project_group_links (namespace_id);

-- Membership as it was given; exactly one of project and namespace is set.
CREATE TABLE members (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL,
    expires_at BIGINT,
    created_by BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, user_id),
    UNIQUE (namespace_id, user_id)
);
CREATE INDEX members_user_id ON members (user_id);

-- Membership as it works: own, inherited and invited, highest level once. Kept in the transaction of its cause.
CREATE TABLE project_access (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL,
    PRIMARY KEY (user_id, project_id)
);
CREATE INDEX project_access_project_id ON project_access (project_id, user_id);

CREATE TABLE namespace_access (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL,
    PRIMARY KEY (user_id, namespace_id)
);
CREATE INDEX namespace_access_namespace_id ON namespace_access (namespace_id, user_id);

-- The installation's own settings: one row, one JSON object.
CREATE TABLE instance_settings (
    id BIGINT PRIMARY KEY NOT NULL,
    settings TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Protection of branches and tags.
CREATE TABLE protected_branches (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    allow_force_push BOOLEAN NOT NULL,
    code_owner_approval_required BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

CREATE TABLE protected_branch_access (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    protected_branch_id BIGINT NOT NULL REFERENCES protected_branches (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    access_level INTEGER,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE
);
CREATE INDEX protected_branch_access_branch ON protected_branch_access (protected_branch_id, id);

CREATE TABLE protected_tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

CREATE TABLE protected_tag_access (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    protected_tag_id BIGINT NOT NULL REFERENCES protected_tags (id) ON DELETE CASCADE,
    access_level INTEGER,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE
);
CREATE INDEX protected_tag_access_tag ON protected_tag_access (protected_tag_id, id);

-- What moved, by whom. A row exists exactly when the ref moved.
CREATE TABLE push_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT,
    action TEXT NOT NULL,
    ref_name TEXT NOT NULL,
    before_sha TEXT,
    after_sha TEXT,
    commit_count BIGINT NOT NULL,
    commit_title TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX push_events_project_id ON push_events (project_id, id);
CREATE INDEX push_events_user_id ON push_events (user_id, id);

-- Ref moves that are decided here and not yet known to have reached git.
CREATE TABLE ref_journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL,
    batch TEXT NOT NULL,
    ref_name TEXT NOT NULL,
    old_sha TEXT,
    new_sha TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX ref_journal_batch ON ref_journal (batch);

CREATE TABLE commit_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    sha TEXT NOT NULL,
    author_id BIGINT NOT NULL,
    note TEXT NOT NULL,
    path TEXT,
    line BIGINT,
    line_type TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX commit_notes_commit ON commit_notes (project_id, sha, id);

-- Facts for those who hear them after the commit.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    kind TEXT NOT NULL,
    project_id BIGINT,
    payload TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Background work.
CREATE TABLE work (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    unique_key TEXT UNIQUE,
    run_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    locked_until BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX work_run_at ON work (run_at, id);
