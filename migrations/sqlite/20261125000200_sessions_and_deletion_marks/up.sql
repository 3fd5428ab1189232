-- Browsers in which somebody is signed in. Of the secret in the cookie there is only a digest.
CREATE TABLE user_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    digest TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE INDEX user_sessions_user ON user_sessions (user_id);
CREATE INDEX user_sessions_use ON user_sessions (last_used_at);

-- Since when a project waits to be deleted, and who wants it.
ALTER TABLE projects ADD COLUMN marked_for_deletion_at BIGINT;
ALTER TABLE projects ADD COLUMN marked_by BIGINT REFERENCES users (id) ON DELETE SET NULL;
CREATE INDEX projects_marked ON projects (marked_for_deletion_at) WHERE marked_for_deletion_at IS NOT NULL;

-- Whose application it is; nobody's in particular where an administrator made it for the installation.
ALTER TABLE oauth_applications ADD COLUMN owner_id BIGINT REFERENCES users (id) ON DELETE CASCADE;
CREATE INDEX oauth_applications_owner ON oauth_applications (owner_id) WHERE owner_id IS NOT NULL;
