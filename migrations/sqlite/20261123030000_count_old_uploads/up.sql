-- Files that people added before their sizes were counted: work that counts them once.
INSERT INTO work (kind, payload, unique_key, run_at, attempts, created_at)
SELECT 'project.count_uploads', '{}', 'project.count_uploads:', 0, 0, 0
WHERE EXISTS (SELECT 1 FROM projects);
