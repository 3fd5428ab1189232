DROP INDEX ssh_keys_fingerprint;
DROP INDEX gpg_keys_fingerprint;
ALTER TABLE ssh_keys ADD COLUMN removed_at BIGINT;
ALTER TABLE gpg_keys ADD COLUMN removed_at BIGINT;
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (fingerprint_sha256) WHERE removed_at IS NULL;
CREATE INDEX ssh_keys_any_fingerprint ON ssh_keys (fingerprint_sha256, id);
CREATE UNIQUE INDEX gpg_keys_fingerprint ON gpg_keys (fingerprint) WHERE removed_at IS NULL;
