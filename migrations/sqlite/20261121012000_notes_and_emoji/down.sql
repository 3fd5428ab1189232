DROP TABLE item_mentions;
DROP TABLE item_participants;
DROP TABLE award_emoji;
DROP INDEX notes_source;
ALTER TABLE notes DROP COLUMN original_position;
ALTER TABLE notes DROP COLUMN source_project_id;
ALTER TABLE notes DROP COLUMN source_id;
ALTER TABLE notes DROP COLUMN source_kind;
