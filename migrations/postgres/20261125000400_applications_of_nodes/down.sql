DROP INDEX geo_nodes_oauth_application_id;
ALTER TABLE geo_nodes RENAME COLUMN oauth_application_id TO former_application_id;
ALTER TABLE geo_nodes ADD COLUMN oauth_application_id BIGINT;
UPDATE geo_nodes SET oauth_application_id = former_application_id;
ALTER TABLE geo_nodes DROP COLUMN former_application_id;
