ALTER TABLE access_tokens DROP COLUMN expiry_announced_at;
