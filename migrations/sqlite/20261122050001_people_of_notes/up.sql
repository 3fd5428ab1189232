-- Who takes part in an item is asked of the item: without this index SQLite looks through all that a person ever wrote.
CREATE INDEX notes_people ON notes (item_kind, item_id, author_id);
