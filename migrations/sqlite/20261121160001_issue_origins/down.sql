DROP TABLE issue_origins;
