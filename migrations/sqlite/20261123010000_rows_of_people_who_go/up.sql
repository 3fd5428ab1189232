-- What people did in pipelines and spent on items, found when they go.
CREATE INDEX timelogs_user ON timelogs (user_id);
CREATE INDEX pipelines_user ON pipelines (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invitations_created_by ON member_invitations (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX namespaces_marked_by ON namespaces (marked_by) WHERE marked_by IS NOT NULL;
