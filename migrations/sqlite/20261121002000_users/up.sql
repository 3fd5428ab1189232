-- People: what their accounts are set to beyond what every request needs, and accounts elsewhere.
ALTER TABLE users ADD COLUMN password_expires_at BIGINT;
-- Accounts that belong to the installation itself, like the one to which the work of removed people goes.
ALTER TABLE users ADD COLUMN internal BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX users_created_by ON users (created_by);
CREATE INDEX users_public_email ON users (public_email);
-- Only what is rare is worth an index: lists by what is frequent walk in their own order.
CREATE INDEX users_blocked ON users (id) WHERE state IN ('blocked', 'ldap_blocked');
CREATE INDEX users_admin ON users (id) WHERE admin;
CREATE INDEX users_external ON users (id) WHERE external;
CREATE INDEX users_internal ON users (id) WHERE internal;

CREATE TABLE user_accounts (
    user_id BIGINT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    auditor BOOLEAN NOT NULL,
    two_factor BOOLEAN NOT NULL,
    current_sign_in_ip TEXT,
    last_sign_in_ip TEXT,
    shared_runners_minutes_limit BIGINT,
    extra_shared_runners_minutes_limit BIGINT,
    provisioned_by_group_id BIGINT,
    -- An address that becomes the primary one once somebody followed the link that was sent there.
    unconfirmed_email TEXT,
    -- Of the secrets in links; each is gone once it was used.
    confirmation_digest TEXT UNIQUE,
    confirmation_sent_at BIGINT,
    reset_digest TEXT UNIQUE,
    reset_sent_at BIGINT
);
CREATE INDEX user_accounts_two_factor ON user_accounts (user_id) WHERE two_factor;
INSERT INTO user_accounts (user_id, auditor, two_factor) SELECT id, FALSE, FALSE FROM users;

CREATE TABLE user_identities (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    extern_uid TEXT NOT NULL,
    saml_provider_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX user_identities_extern_uid ON user_identities (provider, extern_uid, COALESCE(saml_provider_id, 0));
CREATE UNIQUE INDEX user_identities_user_id ON user_identities (user_id, provider, COALESCE(saml_provider_id, 0));
CREATE INDEX user_identities_saml_provider_id ON user_identities (saml_provider_id, user_id);
