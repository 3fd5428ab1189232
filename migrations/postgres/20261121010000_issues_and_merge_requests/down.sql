DROP TABLE todos;
DROP TABLE notes;
DROP TABLE item_subscriptions;
DROP TABLE item_assignees;
DROP TABLE item_labels;
DROP TABLE merge_requests;
DROP TABLE issues;
