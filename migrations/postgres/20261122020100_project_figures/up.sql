-- How many issues of a project are open, and how many of these are confidential: kept whenever one changes.
CREATE TABLE project_issue_counts (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    opened BIGINT NOT NULL,
    confidential BIGINT NOT NULL
);
INSERT INTO project_issue_counts (project_id, opened, confidential)
SELECT project_id, COUNT(*), SUM(CASE WHEN confidential THEN 1 ELSE 0 END)
FROM issues
WHERE state = 'opened'
GROUP BY project_id;
-- Bytes of the files that people added.
ALTER TABLE project_statistics ADD COLUMN uploads_size BIGINT NOT NULL DEFAULT 0;
