ALTER TABLE project_statistics DROP COLUMN lfs_objects_size;
DROP TABLE lfs_objects;
