-- Titles are ordered without regard to case, then by bytes.
DROP INDEX issues_title;
CREATE INDEX issues_title ON issues ((lower(title COLLATE "default") COLLATE "C"), title);
