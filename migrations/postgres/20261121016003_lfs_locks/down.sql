DROP TABLE lfs_locks;
