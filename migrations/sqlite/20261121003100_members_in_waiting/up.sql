-- What a membership will give once it is approved. While it waits it gives nothing: its level is 0.
ALTER TABLE members ADD COLUMN awaiting_level INTEGER;
CREATE INDEX members_namespace_id ON members (namespace_id, id);
CREATE INDEX members_project_id ON members (project_id, id);
CREATE INDEX members_awaiting ON members (namespace_id, project_id) WHERE awaiting_level IS NOT NULL;

-- People who asked to become members.
CREATE TABLE access_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    UNIQUE (project_id, user_id),
    UNIQUE (namespace_id, user_id)
);
CREATE INDEX access_requests_user_id ON access_requests (user_id);

-- Addresses whose owners become members once they are known. The secret of the link is in the letter alone.
CREATE TABLE member_invitations (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    access_level INTEGER NOT NULL,
    expires_at BIGINT,
    token_digest TEXT NOT NULL UNIQUE,
    created_by BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, email_key),
    UNIQUE (namespace_id, email_key)
);
CREATE INDEX member_invitations_email_key ON member_invitations (email_key);
CREATE INDEX member_invitations_expires_at ON member_invitations (expires_at) WHERE expires_at IS NOT NULL;
-- Their ids are shown beside those of members, so they begin where those never come.
INSERT INTO sqlite_sequence (name, seq) VALUES ('member_invitations', 4294967296);

-- Whether a role has ended that nobody has cleared away yet is known without looking at those that have no end.
CREATE INDEX namespace_access_ending ON namespace_access (namespace_id, until) WHERE until < 799999999999999999;
CREATE INDEX project_access_ending ON project_access (project_id, until) WHERE until < 799999999999999999;
