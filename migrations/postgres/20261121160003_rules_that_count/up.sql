-- Which approval rules count for a merge request: its own, or those of its project that are for its target branch. Kept
-- whenever its approval is weighed.
CREATE TABLE merge_request_rules (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    rule_id BIGINT NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
    PRIMARY KEY (merge_request_id, rule_id)
);
CREATE INDEX merge_request_rules_rule ON merge_request_rules (rule_id);
INSERT INTO merge_request_rules (merge_request_id, rule_id)
SELECT merge_request_id, id FROM approval_rules WHERE merge_request_id IS NOT NULL;
INSERT INTO merge_request_rules (merge_request_id, rule_id)
SELECT i.id, r.id
FROM approval_rules r
JOIN merge_requests i ON i.project_id = r.project_id
WHERE r.merge_request_id IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM approval_rules own
        WHERE own.merge_request_id = i.id AND own.rule_type IN ('any_approver', 'regular')
    );
