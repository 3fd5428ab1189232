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

-- Which merge requests contain a text: three letters at a time. It holds no copy of what it indexes.
CREATE VIRTUAL TABLE merge_requests_search USING fts5 (
    title, description, content = 'merge_requests', content_rowid = 'id', tokenize = 'trigram'
);
INSERT INTO merge_requests_search (merge_requests_search) VALUES ('rebuild');

CREATE TRIGGER merge_requests_search_insert AFTER INSERT ON merge_requests BEGIN
    INSERT INTO merge_requests_search (rowid, title, description) VALUES (new.id, new.title, new.description);
END;

CREATE TRIGGER merge_requests_search_delete AFTER DELETE ON merge_requests BEGIN
    INSERT INTO merge_requests_search (merge_requests_search, rowid, title, description)
    VALUES ('delete', old.id, old.title, old.description);
END;

CREATE TRIGGER merge_requests_search_update AFTER UPDATE OF title, description ON merge_requests
WHEN old.title IS NOT new.title OR old.description IS NOT new.description
BEGIN
    INSERT INTO merge_requests_search (merge_requests_search, rowid, title, description)
    VALUES ('delete', old.id, old.title, old.description);
    INSERT INTO merge_requests_search (rowid, title, description) VALUES (new.id, new.title, new.description);
END;
