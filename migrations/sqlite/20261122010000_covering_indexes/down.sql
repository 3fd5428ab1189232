DROP INDEX users_that_count;
DROP INDEX members_by_level;
DROP INDEX issues_milestone;
CREATE INDEX issues_milestone ON issues (milestone_id, id);
