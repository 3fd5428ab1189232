-- The application of a node may be deleted by itself; then the node has none, and `repair` makes another.
ALTER TABLE geo_nodes RENAME COLUMN oauth_application_id TO former_application_id;
ALTER TABLE geo_nodes ADD COLUMN oauth_application_id BIGINT REFERENCES oauth_applications (id) ON DELETE SET NULL;
UPDATE geo_nodes SET oauth_application_id = former_application_id
WHERE former_application_id IN (SELECT id FROM oauth_applications);
ALTER TABLE geo_nodes DROP COLUMN former_application_id;
CREATE INDEX geo_nodes_oauth_application_id ON geo_nodes (oauth_application_id);
