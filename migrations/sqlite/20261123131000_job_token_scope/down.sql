DROP TABLE job_token_groups;
DROP TABLE job_token_projects;
