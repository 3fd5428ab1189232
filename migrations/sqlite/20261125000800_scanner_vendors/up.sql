-- Who makes the scanner that found a vulnerability.
ALTER TABLE vulnerabilities ADD COLUMN scanner_vendor TEXT;
-- Clients name findings by their identity alone.
CREATE INDEX vulnerabilities_uuid ON vulnerabilities (uuid);
