DROP INDEX epics_parent_id;
ALTER TABLE epics DROP COLUMN downvotes;
ALTER TABLE epics DROP COLUMN upvotes;
ALTER TABLE epics DROP COLUMN parent_position;
ALTER TABLE epics DROP COLUMN parent_id;
