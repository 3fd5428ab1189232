-- The item in whose text an item was mentioned: who may not read that is not told of the mention.
ALTER TABLE notes ADD COLUMN source_kind TEXT;
ALTER TABLE notes ADD COLUMN source_id BIGINT;
ALTER TABLE notes ADD COLUMN source_project_id BIGINT;
-- Where a comment on a line was made; `position` follows the pushes after it.
ALTER TABLE notes ADD COLUMN original_position TEXT;
CREATE INDEX notes_source ON notes (source_kind, source_id);

-- What people feel about issues, merge requests, epics and notes; `item_kind` says in which table `item_id` is.
CREATE TABLE award_emoji (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (item_kind, item_id, user_id, name)
);
CREATE INDEX award_emoji_user ON award_emoji (user_id, name, item_kind, item_id);

-- Who took part in an item by a comment, or was mentioned there and may read it.
CREATE TABLE item_participants (
    item_kind TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    PRIMARY KEY (item_kind, item_id, user_id)
);
CREATE INDEX item_participants_user ON item_participants (user_id, item_kind, item_id);

-- Which items a text names: that of an item itself, where `note_id` is 0, or of one of its notes.
CREATE TABLE item_mentions (
    source_kind TEXT NOT NULL,
    source_id BIGINT NOT NULL,
    note_id BIGINT NOT NULL,
    target_kind TEXT NOT NULL,
    target_id BIGINT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    PRIMARY KEY (source_kind, source_id, note_id, target_kind, target_id)
);
CREATE INDEX item_mentions_target ON item_mentions (target_kind, target_id);
