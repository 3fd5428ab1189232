-- Keys that sign who somebody is, for applications that ask for that. The newest signs; older ones are still published.
CREATE TABLE oauth_signing_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    -- As PKCS#1, in base64.
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- What the application wants to find again in what is signed.
ALTER TABLE oauth_codes ADD COLUMN nonce TEXT;

-- The webhook event that led to the work, so that its receivers are not told of what follows.
ALTER TABLE work ADD COLUMN cause TEXT;

-- Who changed title or description last, and who changed anything.
ALTER TABLE issues ADD COLUMN last_edited_at BIGINT;
ALTER TABLE issues ADD COLUMN last_edited_by_id BIGINT;
ALTER TABLE issues ADD COLUMN updated_by_id BIGINT;
CREATE INDEX issues_last_edited_by ON issues (last_edited_by_id) WHERE last_edited_by_id IS NOT NULL;
CREATE INDEX issues_updated_by ON issues (updated_by_id) WHERE updated_by_id IS NOT NULL;
ALTER TABLE merge_requests ADD COLUMN last_edited_at BIGINT;
ALTER TABLE merge_requests ADD COLUMN last_edited_by_id BIGINT;
ALTER TABLE merge_requests ADD COLUMN updated_by_id BIGINT;
CREATE INDEX merge_requests_last_edited_by ON merge_requests (last_edited_by_id) WHERE last_edited_by_id IS NOT NULL;
CREATE INDEX merge_requests_updated_by ON merge_requests (updated_by_id) WHERE updated_by_id IS NOT NULL;
