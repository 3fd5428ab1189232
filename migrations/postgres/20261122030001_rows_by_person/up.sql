-- What people wrote and did, found when they go or are asked about.
CREATE INDEX notes_author ON notes (author_id, id);
CREATE INDEX todos_author ON todos (author_id);
CREATE INDEX resource_events_user ON resource_events (user_id);
CREATE INDEX commit_notes_author ON commit_notes (author_id);
CREATE INDEX notes_resolved_by ON notes (resolved_by_id) WHERE resolved_by_id IS NOT NULL;
CREATE INDEX issues_closed_by ON issues (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX merge_requests_closed_by ON merge_requests (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX merge_requests_merge_user ON merge_requests (merge_user_id) WHERE merge_user_id IS NOT NULL;
CREATE INDEX members_created_by ON members (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX protected_branch_access_user ON protected_branch_access (user_id);
CREATE INDEX protected_tag_access_user ON protected_tag_access (user_id);
