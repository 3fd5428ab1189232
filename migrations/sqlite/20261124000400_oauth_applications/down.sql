DROP INDEX access_tokens_application;
ALTER TABLE access_tokens DROP COLUMN application_id;
DROP TABLE oauth_codes;
DROP TABLE oauth_applications;
