DROP TABLE file_checksums;
DROP TABLE ref_checksums;
DROP TABLE event_cursors;
DROP INDEX outbox_commits;
ALTER TABLE outbox DROP COLUMN xid;
