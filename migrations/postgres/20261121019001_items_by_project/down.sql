DROP STATISTICS item_assignees_places;
DROP STATISTICS item_labels_places;
DROP INDEX item_assignees_user_id;
CREATE INDEX item_assignees_user_id ON item_assignees (user_id, item_kind, item_id);
ALTER TABLE item_assignees DROP COLUMN project_id;
DROP INDEX item_labels_label_id;
CREATE INDEX item_labels_label_id ON item_labels (label_id, item_kind, item_id);
ALTER TABLE item_labels DROP COLUMN project_id;
