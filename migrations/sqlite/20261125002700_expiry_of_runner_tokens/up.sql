-- When the token of a runner expires; null where it does not.
ALTER TABLE runners ADD COLUMN token_expires_at BIGINT;
