-- Comments on commits answer each other: those of one `discussion` belong together.
ALTER TABLE commit_notes ADD COLUMN discussion TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE commit_notes ADD COLUMN note_type TEXT COLLATE "C";
-- A place in the diff of the commit, as JSON.
ALTER TABLE commit_notes ADD COLUMN position TEXT COLLATE "C";
UPDATE commit_notes SET discussion = left(md5(random()::text) || md5(random()::text), 40);
CREATE INDEX commit_notes_discussion ON commit_notes (project_id, sha, discussion, id);
