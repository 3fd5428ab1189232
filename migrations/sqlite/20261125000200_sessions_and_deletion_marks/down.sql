DROP INDEX oauth_applications_owner;
ALTER TABLE oauth_applications DROP COLUMN owner_id;
DROP INDEX projects_marked;
ALTER TABLE projects DROP COLUMN marked_by;
ALTER TABLE projects DROP COLUMN marked_for_deletion_at;
DROP TABLE user_sessions;
