DROP INDEX namespaces_runners_token;
DROP INDEX project_settings_runners_token;
DROP TABLE instance_runner_registration;
DROP TABLE runner_managers;
DROP TABLE runner_projects;
DROP TABLE runners;
