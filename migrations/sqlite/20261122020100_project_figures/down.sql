ALTER TABLE project_statistics DROP COLUMN uploads_size;
DROP TABLE project_issue_counts;
