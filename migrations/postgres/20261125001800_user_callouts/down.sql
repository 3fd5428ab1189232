ALTER TABLE user_preferences DROP COLUMN issues_sort;
DROP TABLE user_callouts;
