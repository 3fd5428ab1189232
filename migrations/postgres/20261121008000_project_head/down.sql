ALTER TABLE project_statistics DROP COLUMN head_sha;
