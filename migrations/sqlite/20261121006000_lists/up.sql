-- What administrators note of groups, projects and people; exactly one of the three is set.
CREATE TABLE custom_attributes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, key),
    UNIQUE (project_id, key),
    UNIQUE (user_id, key)
);
-- Values may be long; what an index holds of them suffices to find the few that begin alike.
CREATE INDEX custom_attributes_namespace ON custom_attributes (key, substr(value, 1, 200), namespace_id) WHERE namespace_id IS NOT NULL;
CREATE INDEX custom_attributes_project ON custom_attributes (key, substr(value, 1, 200), project_id) WHERE project_id IS NOT NULL;
CREATE INDEX custom_attributes_user ON custom_attributes (key, substr(value, 1, 200), user_id) WHERE user_id IS NOT NULL;

-- Lists of groups walk one of these until they know which groups they show.
CREATE INDEX namespaces_groups ON namespaces (id, visibility) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX namespaces_groups_name ON namespaces (name, id, visibility) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX namespaces_groups_path ON namespaces (path, id, visibility) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX namespaces_groups_visibility ON namespaces (visibility, name, id) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX namespaces_groups_parent ON namespaces (parent_id, name, id, visibility) WHERE kind = 'group' AND deleted_at IS NULL;
-- What is below a group has its path before its own.
CREATE INDEX namespaces_groups_tree ON namespaces (path_key, name, id, visibility) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX projects_tree ON projects (path_key, id, visibility, archived) WHERE deleted_at IS NULL;
CREATE INDEX projects_in_namespace ON projects (namespace_id, id, visibility, archived) WHERE deleted_at IS NULL;
-- How many groups somebody reaches is read from this one alone.
CREATE INDEX namespace_access_level ON namespace_access (user_id, access_level, namespace_id, until);

-- Where somebody was let in.
CREATE INDEX members_groups_of_user ON members (user_id, namespace_id) WHERE namespace_id IS NOT NULL;

CREATE INDEX users_name ON users (name, id);
CREATE INDEX users_username ON users (username, id);
CREATE INDEX users_created_at ON users (created_at, id);
CREATE INDEX users_updated_at ON users (updated_at, id);
CREATE INDEX users_state ON users (state, id);

-- Which groups, namespaces and people contain a text: three letters at a time.
CREATE VIRTUAL TABLE namespaces_search USING fts5 (
    path, name, full_path, full_name,
    content = 'namespaces', content_rowid = 'id', tokenize = 'trigram'
);
INSERT INTO namespaces_search (namespaces_search) VALUES ('rebuild');

CREATE TRIGGER namespaces_search_insert AFTER INSERT ON namespaces BEGIN
    INSERT INTO namespaces_search (rowid, path, name, full_path, full_name) VALUES (new.id, new.path, new.name, new.full_path, new.full_name);
END;

CREATE TRIGGER namespaces_search_delete AFTER DELETE ON namespaces BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, path, name, full_path, full_name) VALUES ('delete', old.id, old.path, old.name, old.full_path, old.full_name);
END;

CREATE TRIGGER namespaces_search_update AFTER UPDATE ON namespaces
WHEN old.path IS NOT new.path OR old.name IS NOT new.name OR old.full_path IS NOT new.full_path OR old.full_name IS NOT new.full_name
BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, path, name, full_path, full_name) VALUES ('delete', old.id, old.path, old.name, old.full_path, old.full_name);
    INSERT INTO namespaces_search (rowid, path, name, full_path, full_name) VALUES (new.id, new.path, new.name, new.full_path, new.full_name);
END;

CREATE VIRTUAL TABLE users_search USING fts5 (
    username, name,
    content = 'users', content_rowid = 'id', tokenize = 'trigram'
);
INSERT INTO users_search (users_search) VALUES ('rebuild');

CREATE TRIGGER users_search_insert AFTER INSERT ON users BEGIN
    INSERT INTO users_search (rowid, username, name) VALUES (new.id, new.username, new.name);
END;

CREATE TRIGGER users_search_delete AFTER DELETE ON users BEGIN
    INSERT INTO users_search (users_search, rowid, username, name) VALUES ('delete', old.id, old.username, old.name);
END;

CREATE TRIGGER users_search_update AFTER UPDATE ON users
WHEN old.username IS NOT new.username OR old.name IS NOT new.name
BEGIN
    INSERT INTO users_search (users_search, rowid, username, name) VALUES ('delete', old.id, old.username, old.name);
    INSERT INTO users_search (rowid, username, name) VALUES (new.id, new.username, new.name);
END;
