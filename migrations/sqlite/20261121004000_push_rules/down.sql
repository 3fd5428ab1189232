DROP TABLE push_rules;
