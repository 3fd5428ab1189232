-- Lists are ordered by id: each of these indexes holds what decides about a row before the row itself is read.
DROP INDEX merge_requests_project_created;
DROP INDEX merge_requests_project_state;
DROP INDEX merge_requests_author;
DROP INDEX merge_requests_created;
CREATE INDEX merge_requests_listed ON merge_requests (id, project_id, state);
CREATE INDEX merge_requests_project ON merge_requests (project_id, id, state);
CREATE INDEX merge_requests_project_state ON merge_requests (project_id, state, id);
CREATE INDEX merge_requests_state ON merge_requests (state, id, project_id);
CREATE INDEX merge_requests_author ON merge_requests (author_id, id);
CREATE INDEX merge_requests_updated ON merge_requests (updated_at, id, project_id, state);
CREATE INDEX merge_requests_project_updated ON merge_requests (project_id, updated_at, id, state);
CREATE INDEX merge_requests_source_branch ON merge_requests (source_branch, id);
CREATE INDEX merge_requests_target_branch ON merge_requests (target_branch, id);
CREATE INDEX merge_requests_head ON merge_requests (head_sha, project_id);
CREATE INDEX merge_requests_merge_commit ON merge_requests (merge_commit_sha, project_id);
CREATE INDEX merge_requests_squash_commit ON merge_requests (squash_commit_sha, project_id);

-- Which merge requests contain a text: three letters at a time.
CREATE INDEX merge_requests_search ON merge_requests USING gin (title gin_trgm_ops, description gin_trgm_ops);
