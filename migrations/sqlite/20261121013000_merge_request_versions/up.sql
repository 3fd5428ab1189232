-- What a merge request held after each push to its source: the newest one is what it holds now.
CREATE TABLE merge_request_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    head_commit_sha TEXT NOT NULL,
    base_commit_sha TEXT NOT NULL,
    start_commit_sha TEXT NOT NULL,
    state TEXT NOT NULL,
    -- Files changed.
    real_size BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX merge_request_versions_of ON merge_request_versions (merge_request_id, id);

-- Who is asked to look at it.
CREATE TABLE merge_request_reviewers (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (merge_request_id, user_id)
);
CREATE INDEX merge_request_reviewers_user_id ON merge_request_reviewers (user_id, merge_request_id);

-- Commits that are shown beside its own, in the order in which they were given.
CREATE TABLE merge_request_context_commits (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    sha TEXT NOT NULL,
    UNIQUE (merge_request_id, sha)
);
