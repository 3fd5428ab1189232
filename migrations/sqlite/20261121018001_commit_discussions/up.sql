-- Comments on commits answer each other: those of one `discussion` belong together.
ALTER TABLE commit_notes ADD COLUMN discussion TEXT NOT NULL DEFAULT '';
ALTER TABLE commit_notes ADD COLUMN note_type TEXT;
-- A place in the diff of the commit, as JSON.
ALTER TABLE commit_notes ADD COLUMN position TEXT;
UPDATE commit_notes SET discussion = lower(hex(randomblob(20)));
CREATE INDEX commit_notes_discussion ON commit_notes (project_id, sha, discussion, id);
