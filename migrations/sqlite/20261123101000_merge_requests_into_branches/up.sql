-- A branch that very many merge requests lead to moves as quickly as any other: of those that nothing changes for, none
-- is looked at.
CREATE INDEX merge_requests_target_status ON merge_requests (project_id, target_branch, state, merge_status);
CREATE INDEX merge_requests_target_head ON merge_requests (project_id, target_branch, head_sha);
CREATE INDEX merge_requests_waiting ON merge_requests (project_id, target_branch, state, id) WHERE auto_merge IS NOT NULL;
