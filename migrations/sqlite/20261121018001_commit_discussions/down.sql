DROP INDEX commit_notes_discussion;
ALTER TABLE commit_notes DROP COLUMN position;
ALTER TABLE commit_notes DROP COLUMN note_type;
ALTER TABLE commit_notes DROP COLUMN discussion;
