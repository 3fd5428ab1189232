-- Lists are ordered by id: each of these indexes holds what decides about a row before the row itself is read.
DROP INDEX issues_project_created;
DROP INDEX issues_project_state;
DROP INDEX issues_author;
DROP INDEX issues_created;
CREATE INDEX issues_listed ON issues (id, project_id, state, confidential, author_id);
CREATE INDEX issues_project ON issues (project_id, id, state, confidential, author_id);
CREATE INDEX issues_project_state ON issues (project_id, state, id, confidential, author_id);
CREATE INDEX issues_state ON issues (state, id, project_id, confidential, author_id);
CREATE INDEX issues_author ON issues (author_id, id);
CREATE INDEX issues_updated ON issues (updated_at, id, project_id, state, confidential, author_id);
CREATE INDEX issues_project_updated ON issues (project_id, updated_at, id, state, confidential, author_id);
CREATE INDEX labels_name ON labels (name);
CREATE INDEX milestones_title ON milestones (title);

-- Which issues contain a text: three letters at a time. It holds no copy of what it indexes.
CREATE VIRTUAL TABLE issues_search USING fts5 (
    title, description, content = 'issues', content_rowid = 'id', tokenize = 'trigram'
);
INSERT INTO issues_search (issues_search) VALUES ('rebuild');

CREATE TRIGGER issues_search_insert AFTER INSERT ON issues BEGIN
    INSERT INTO issues_search (rowid, title, description) VALUES (new.id, new.title, new.description);
END;

CREATE TRIGGER issues_search_delete AFTER DELETE ON issues BEGIN
    INSERT INTO issues_search (issues_search, rowid, title, description)
    VALUES ('delete', old.id, old.title, old.description);
END;

CREATE TRIGGER issues_search_update AFTER UPDATE OF title, description ON issues
WHEN old.title IS NOT new.title OR old.description IS NOT new.description
BEGIN
    INSERT INTO issues_search (issues_search, rowid, title, description)
    VALUES ('delete', old.id, old.title, old.description);
    INSERT INTO issues_search (rowid, title, description) VALUES (new.id, new.title, new.description);
END;
