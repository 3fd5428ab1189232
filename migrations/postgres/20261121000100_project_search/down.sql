DROP INDEX projects_search;
DROP INDEX projects_listed;
