DROP INDEX issues_epic_id;
ALTER TABLE issues DROP COLUMN promoted_to_epic_id;
ALTER TABLE issues DROP COLUMN epic_position;
DROP TABLE epics;
