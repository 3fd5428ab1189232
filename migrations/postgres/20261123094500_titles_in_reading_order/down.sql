DROP INDEX issues_title;
CREATE INDEX issues_title ON issues (title);
