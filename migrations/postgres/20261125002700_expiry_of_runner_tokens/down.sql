ALTER TABLE runners DROP COLUMN token_expires_at;
