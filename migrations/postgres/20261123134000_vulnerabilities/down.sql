DROP TABLE vulnerability_changes;
DROP TABLE vulnerabilities;
