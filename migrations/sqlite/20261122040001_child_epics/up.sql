-- Epics inside of epics, in the order that people give them, and what people feel about epics.
ALTER TABLE epics ADD COLUMN parent_id BIGINT;
ALTER TABLE epics ADD COLUMN parent_position BIGINT;
ALTER TABLE epics ADD COLUMN upvotes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE epics ADD COLUMN downvotes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX epics_parent_id ON epics (parent_id, parent_position);
