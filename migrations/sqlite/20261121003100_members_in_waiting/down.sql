DROP INDEX project_access_ending;
DROP INDEX namespace_access_ending;
DROP TABLE member_invitations;
DROP TABLE access_requests;
DROP INDEX members_awaiting;
DROP INDEX members_project_id;
DROP INDEX members_namespace_id;
ALTER TABLE members DROP COLUMN awaiting_level;
