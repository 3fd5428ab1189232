-- Lists walk this index alone until they know which projects they show.
CREATE INDEX projects_listed ON projects (id, visibility, archived) WHERE deleted_at IS NULL;
DROP INDEX projects_visibility;
CREATE INDEX projects_visibility ON projects (visibility, id, archived) WHERE deleted_at IS NULL;

-- Which projects contain a text: three letters at a time. It holds no copy of what it indexes.
CREATE VIRTUAL TABLE projects_search USING fts5 (
    path, name, description, full_path, full_name,
    content = 'projects', content_rowid = 'id', tokenize = 'trigram'
);
INSERT INTO projects_search (projects_search) VALUES ('rebuild');

CREATE TRIGGER projects_search_insert AFTER INSERT ON projects BEGIN
    INSERT INTO projects_search (rowid, path, name, description, full_path, full_name)
    VALUES (new.id, new.path, new.name, new.description, new.full_path, new.full_name);
END;

CREATE TRIGGER projects_search_delete AFTER DELETE ON projects BEGIN
    INSERT INTO projects_search (projects_search, rowid, path, name, description, full_path, full_name)
    VALUES ('delete', old.id, old.path, old.name, old.description, old.full_path, old.full_name);
END;

CREATE TRIGGER projects_search_update AFTER UPDATE ON projects
WHEN old.path IS NOT new.path OR old.name IS NOT new.name OR old.description IS NOT new.description
    OR old.full_path IS NOT new.full_path OR old.full_name IS NOT new.full_name
BEGIN
    INSERT INTO projects_search (projects_search, rowid, path, name, description, full_path, full_name)
    VALUES ('delete', old.id, old.path, old.name, old.description, old.full_path, old.full_name);
    INSERT INTO projects_search (rowid, path, name, description, full_path, full_name)
    VALUES (new.id, new.path, new.name, new.description, new.full_path, new.full_name);
END;
