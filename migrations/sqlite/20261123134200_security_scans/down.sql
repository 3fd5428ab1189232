DROP TABLE security_scans;
