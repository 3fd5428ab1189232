DROP INDEX issues_iteration_id;
DROP TABLE iterations;
DROP TABLE iteration_cadences;
