DROP INDEX vulnerabilities_uuid;
ALTER TABLE vulnerabilities DROP COLUMN scanner_vendor;
