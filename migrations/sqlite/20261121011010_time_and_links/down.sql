DROP INDEX issues_project_position;
DROP TABLE issue_links;
DROP TABLE timelogs;
