-- Since when git merges; what is locked for longer was left behind.
ALTER TABLE merge_requests ADD COLUMN locked_at BIGINT;
-- Counts what git was asked and what changed since, so that an older answer never replaces a newer one.
ALTER TABLE merge_requests ADD COLUMN looks BIGINT NOT NULL DEFAULT 0;
CREATE INDEX merge_requests_locked ON merge_requests (locked_at) WHERE locked_at IS NOT NULL;

-- Which issues a merge request closes when it is merged; kept by what changes its words, its target or its commits.
CREATE TABLE merge_request_closes (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    PRIMARY KEY (merge_request_id, issue_id)
);
CREATE INDEX merge_request_closes_issue_id ON merge_request_closes (issue_id, merge_request_id);
