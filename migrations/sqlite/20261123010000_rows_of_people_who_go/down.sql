DROP INDEX namespaces_marked_by;
DROP INDEX member_invitations_created_by;
DROP INDEX jobs_user;
DROP INDEX pipelines_user;
DROP INDEX timelogs_user;
