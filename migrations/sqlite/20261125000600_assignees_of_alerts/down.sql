DROP TABLE alert_assignees;
