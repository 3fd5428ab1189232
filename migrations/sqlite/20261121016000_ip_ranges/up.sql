-- From which networks alone a group is reached. A top-level group says it; every group below has a copy.
ALTER TABLE namespaces ADD COLUMN ip_ranges TEXT;
UPDATE namespaces SET ip_ranges = (
    SELECT json_extract(top.settings, '$.ip_restriction_ranges') FROM namespaces top
    WHERE top.kind = 'group'
      AND top.path_key = substr(namespaces.path_key || '/', 1, instr(namespaces.path_key || '/', '/') - 1)
) WHERE kind = 'group' AND deleted_at IS NULL;
CREATE INDEX namespaces_ip_ranges ON namespaces (ip_ranges, id) WHERE ip_ranges IS NOT NULL;
