-- Addresses beside the primary one, which stays with its user.
CREATE TABLE user_emails (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    confirmed_at BIGINT,
    -- Of the secret in the confirming link; gone once it was used.
    confirmation_digest TEXT UNIQUE,
    confirmation_sent_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX user_emails_user_id ON user_emails (user_id, id);

CREATE TABLE ssh_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    -- Kind and data; the comment, which often is an address, is not kept.
    key TEXT NOT NULL,
    fingerprint_sha256 TEXT NOT NULL,
    fingerprint_md5 TEXT NOT NULL,
    usage_type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    -- A key that was taken away still vouches for what was signed before.
    removed_at BIGINT
);
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (fingerprint_sha256) WHERE removed_at IS NULL;
CREATE INDEX ssh_keys_any_fingerprint ON ssh_keys (fingerprint_sha256, id);
CREATE INDEX ssh_keys_fingerprint_md5 ON ssh_keys (fingerprint_md5);
CREATE INDEX ssh_keys_user_id ON ssh_keys (user_id, id);

CREATE TABLE gpg_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    primary_keyid TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- As with SSH keys; a key that was revoked is deleted instead.
    removed_at BIGINT
);
CREATE UNIQUE INDEX gpg_keys_fingerprint ON gpg_keys (fingerprint) WHERE removed_at IS NULL;
CREATE INDEX gpg_keys_primary_keyid ON gpg_keys (primary_keyid, id);
CREATE INDEX gpg_keys_user_id ON gpg_keys (user_id, id);

CREATE TABLE gpg_subkeys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    gpg_key_id BIGINT NOT NULL REFERENCES gpg_keys (id) ON DELETE CASCADE,
    keyid TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE INDEX gpg_subkeys_keyid ON gpg_subkeys (keyid, id);
CREATE INDEX gpg_subkeys_gpg_key_id ON gpg_subkeys (gpg_key_id);

CREATE TABLE user_statuses (
    user_id BIGINT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    emoji TEXT NOT NULL,
    message TEXT,
    availability TEXT NOT NULL,
    clear_status_at BIGINT
);
CREATE INDEX user_statuses_clear_status_at ON user_statuses (clear_status_at);

CREATE TABLE user_preferences (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    view_diffs_file_by_file BOOLEAN NOT NULL,
    show_whitespace_in_diffs BOOLEAN NOT NULL
);

CREATE TABLE user_follows (
    follower_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    followee_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (follower_id, followee_id)
);
CREATE INDEX user_follows_followee_id ON user_follows (followee_id, follower_id);

CREATE INDEX users_last_activity_at ON users (last_activity_at, id);
