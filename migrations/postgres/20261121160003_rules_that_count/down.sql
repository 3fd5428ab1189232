DROP TABLE merge_request_rules;
