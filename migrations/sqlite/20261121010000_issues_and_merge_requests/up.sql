-- Issues. Days are stored as the moment they begin; counts are kept by what changes them.
CREATE TABLE issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    issue_type TEXT NOT NULL,
    severity TEXT NOT NULL,
    author_id BIGINT NOT NULL,
    confidential BOOLEAN NOT NULL,
    discussion_locked BOOLEAN,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE SET NULL,
    epic_id BIGINT,
    iteration_id BIGINT,
    weight BIGINT,
    health_status TEXT,
    due_date BIGINT,
    relative_position BIGINT NOT NULL,
    time_estimate BIGINT NOT NULL DEFAULT 0,
    total_time_spent BIGINT NOT NULL DEFAULT 0,
    user_notes_count BIGINT NOT NULL DEFAULT 0,
    merge_requests_count BIGINT NOT NULL DEFAULT 0,
    blocking_issues_count BIGINT NOT NULL DEFAULT 0,
    upvotes BIGINT NOT NULL DEFAULT 0,
    downvotes BIGINT NOT NULL DEFAULT 0,
    task_count BIGINT NOT NULL DEFAULT 0,
    task_completed_count BIGINT NOT NULL DEFAULT 0,
    closed_at BIGINT,
    closed_by_id BIGINT,
    moved_to_id BIGINT,
    duplicated_to_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, iid)
);
CREATE INDEX issues_project_created ON issues (project_id, created_at, id);
CREATE INDEX issues_project_state ON issues (project_id, state, created_at, id);
CREATE INDEX issues_author ON issues (author_id, created_at, id);
CREATE INDEX issues_created ON issues (created_at, id);
CREATE INDEX issues_milestone ON issues (milestone_id, id);

-- Merge requests: `project_id` is the project they lead to. What git says of them is stored when it changes.
CREATE TABLE merge_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    source_project_id BIGINT REFERENCES projects (id) ON DELETE SET NULL,
    source_branch TEXT NOT NULL,
    target_branch TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    draft BOOLEAN NOT NULL,
    author_id BIGINT NOT NULL,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE SET NULL,
    merge_status TEXT NOT NULL,
    merge_error TEXT,
    head_sha TEXT,
    base_sha TEXT,
    start_sha TEXT,
    changes_count BIGINT,
    merge_commit_sha TEXT,
    squash_commit_sha TEXT,
    merge_user_id BIGINT,
    merged_at BIGINT,
    closed_by_id BIGINT,
    closed_at BIGINT,
    discussion_locked BOOLEAN,
    squash BOOLEAN NOT NULL,
    allow_collaboration BOOLEAN NOT NULL,
    should_remove_source_branch BOOLEAN,
    force_remove_source_branch BOOLEAN,
    -- Waits for its pipeline; how it is to be merged then, as JSON.
    auto_merge TEXT,
    approvals_before_merge BIGINT,
    -- Whether nobody has to approve any more; kept by approvals and rules.
    approved BOOLEAN NOT NULL DEFAULT TRUE,
    unresolved_threads BIGINT NOT NULL DEFAULT 0,
    time_estimate BIGINT NOT NULL DEFAULT 0,
    total_time_spent BIGINT NOT NULL DEFAULT 0,
    user_notes_count BIGINT NOT NULL DEFAULT 0,
    upvotes BIGINT NOT NULL DEFAULT 0,
    downvotes BIGINT NOT NULL DEFAULT 0,
    task_count BIGINT NOT NULL DEFAULT 0,
    task_completed_count BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, iid)
);
CREATE INDEX merge_requests_project_created ON merge_requests (project_id, created_at, id);
CREATE INDEX merge_requests_project_state ON merge_requests (project_id, state, created_at, id);
CREATE INDEX merge_requests_author ON merge_requests (author_id, created_at, id);
CREATE INDEX merge_requests_created ON merge_requests (created_at, id);
CREATE INDEX merge_requests_source ON merge_requests (source_project_id, source_branch, state);
CREATE INDEX merge_requests_target ON merge_requests (project_id, target_branch, state);
CREATE INDEX merge_requests_milestone ON merge_requests (milestone_id, id);

-- What issues, merge requests and epics have in common. `item_kind` says in which table `item_id` is.
CREATE TABLE item_labels (
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (item_kind, item_id, label_id)
);
CREATE INDEX item_labels_label_id ON item_labels (label_id, item_kind, item_id);

CREATE TABLE item_assignees (
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (item_kind, item_id, user_id)
);
CREATE INDEX item_assignees_user_id ON item_assignees (user_id, item_kind, item_id);

-- Who said to want to hear of an item, or not to; taking part counts where nothing is said.
CREATE TABLE item_subscriptions (
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    subscribed BOOLEAN NOT NULL,
    PRIMARY KEY (item_kind, item_id, user_id)
);
CREATE INDEX item_subscriptions_user_id ON item_subscriptions (user_id);

-- What is said about an item, and what happened to it (`is_system`). Notes of one `discussion` answer each other.
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    discussion TEXT NOT NULL,
    note_type TEXT,
    body TEXT NOT NULL,
    author_id BIGINT NOT NULL,
    is_system BOOLEAN NOT NULL,
    internal BOOLEAN NOT NULL,
    position TEXT,
    commit_id TEXT,
    resolved_by_id BIGINT,
    resolved_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX notes_item ON notes (item_kind, item_id, id);
CREATE INDEX notes_discussion ON notes (discussion, id);

CREATE TABLE todos (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    note_id BIGINT,
    action TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX todos_user ON todos (user_id, state, id);
CREATE INDEX todos_item ON todos (item_kind, item_id, user_id);
