-- Tokens that applications have for themselves: they stand for nobody. Of a token there is only a digest.
CREATE TABLE oauth_client_tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    application_id BIGINT NOT NULL REFERENCES oauth_applications (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked BOOLEAN NOT NULL
);
CREATE INDEX oauth_client_tokens_application ON oauth_client_tokens (application_id);
CREATE INDEX oauth_client_tokens_end ON oauth_client_tokens (expires_at);
