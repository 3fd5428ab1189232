-- The project of the item, so that what has a label or an assignee in one project is found without asking each item.
-- It never changes, and epics have none.
ALTER TABLE item_labels ADD COLUMN project_id BIGINT;
UPDATE item_labels SET project_id = (SELECT i.project_id FROM issues i WHERE i.id = item_id) WHERE item_kind = 'Issue';
UPDATE item_labels SET project_id = (SELECT i.project_id FROM merge_requests i WHERE i.id = item_id)
WHERE item_kind = 'MergeRequest';
DROP INDEX item_labels_label_id;
CREATE INDEX item_labels_label_id ON item_labels (label_id, item_kind, project_id, item_id);

ALTER TABLE item_assignees ADD COLUMN project_id BIGINT;
UPDATE item_assignees SET project_id = (SELECT i.project_id FROM issues i WHERE i.id = item_id) WHERE item_kind = 'Issue';
UPDATE item_assignees SET project_id = (SELECT i.project_id FROM merge_requests i WHERE i.id = item_id)
WHERE item_kind = 'MergeRequest';
DROP INDEX item_assignees_user_id;
CREATE INDEX item_assignees_user_id ON item_assignees (user_id, item_kind, project_id, item_id);

-- How many have a label or an assignee in one project: without these, far too few are expected.
CREATE STATISTICS item_labels_places (dependencies) ON label_id, project_id FROM item_labels;
CREATE STATISTICS item_assignees_places (mcv) ON user_id, project_id FROM item_assignees;
