-- Files that somebody keeps to themselves while working on them, as Git LFS knows it.
CREATE TABLE lfs_locks (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    locked_at BIGINT NOT NULL,
    UNIQUE (project_id, path)
);
CREATE INDEX lfs_locks_user_id ON lfs_locks (user_id);
