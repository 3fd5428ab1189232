DROP TABLE merge_request_committers;
DROP TABLE approvals;
DROP TABLE approval_rule_branches;
DROP TABLE approval_rule_groups;
DROP TABLE approval_rule_users;
DROP TABLE approval_rules;
DROP TABLE approval_settings;
