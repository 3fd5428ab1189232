-- The commits of the newest version of each merge request, for those who ask where a commit went.
CREATE TABLE merge_request_commits (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    sha TEXT NOT NULL,
    PRIMARY KEY (merge_request_id, sha)
);
CREATE INDEX merge_request_commits_sha ON merge_request_commits (sha, merge_request_id);
