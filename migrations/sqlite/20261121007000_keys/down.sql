DROP INDEX users_last_activity_at;
DROP TABLE user_follows;
DROP TABLE user_preferences;
DROP TABLE user_statuses;
DROP TABLE gpg_subkeys;
DROP TABLE gpg_keys;
DROP TABLE ssh_keys;
DROP TABLE user_emails;
