-- When it was last told that a token of a project or group ends soon, so that it is told once a week and once a day before.
ALTER TABLE access_tokens ADD COLUMN expiry_announced_at BIGINT;
