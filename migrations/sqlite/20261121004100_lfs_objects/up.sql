-- Large files that git only points at, by the SHA-256 of what they hold. Several projects may have the same one.
CREATE TABLE lfs_objects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    oid TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (project_id, oid)
);
CREATE INDEX lfs_objects_oid ON lfs_objects (oid);

ALTER TABLE project_statistics ADD COLUMN lfs_objects_size BIGINT NOT NULL DEFAULT 0;
