-- A key that was taken away vouches for nothing: whoever stole it could date what they sign as they like.
DROP INDEX ssh_keys_fingerprint;
DROP INDEX ssh_keys_any_fingerprint;
DROP INDEX gpg_keys_fingerprint;
DELETE FROM ssh_keys WHERE removed_at IS NOT NULL;
DELETE FROM gpg_keys WHERE removed_at IS NOT NULL;
ALTER TABLE ssh_keys DROP COLUMN removed_at;
ALTER TABLE gpg_keys DROP COLUMN removed_at;
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (fingerprint_sha256);
CREATE UNIQUE INDEX gpg_keys_fingerprint ON gpg_keys (fingerprint);
