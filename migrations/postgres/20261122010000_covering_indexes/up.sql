-- What is counted is read from an index alone.
DROP INDEX issues_milestone;
CREATE INDEX issues_milestone ON issues (milestone_id, id, project_id);
CREATE INDEX members_by_level ON members (namespace_id, access_level, user_id) WHERE namespace_id IS NOT NULL;
CREATE INDEX users_that_count ON users (id) WHERE state = 'active' AND NOT bot;
