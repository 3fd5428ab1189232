-- Applications that act for people by OAuth. Of a secret there is only a digest.
CREATE TABLE oauth_applications (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    secret_digest TEXT NOT NULL,
    -- One or more, with white space between.
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    trusted BOOLEAN NOT NULL,
    confidential BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Codes that an application changes for its first tokens, once. One that is used is kept until it ends, to be known again.
CREATE TABLE oauth_codes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    application_id BIGINT NOT NULL REFERENCES oauth_applications (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    challenge TEXT,
    challenge_method TEXT,
    -- The first token that came of it; nothing before.
    family_id BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_codes_application ON oauth_codes (application_id);
CREATE INDEX oauth_codes_user ON oauth_codes (user_id);
CREATE INDEX oauth_codes_end ON oauth_codes (expires_at);

-- The application that a token was given to.
ALTER TABLE access_tokens ADD COLUMN application_id BIGINT REFERENCES oauth_applications (id) ON DELETE CASCADE;
CREATE INDEX access_tokens_application ON access_tokens (application_id) WHERE application_id IS NOT NULL;
