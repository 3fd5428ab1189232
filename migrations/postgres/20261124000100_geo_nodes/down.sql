DROP TABLE geo_node_statuses;
DROP TABLE geo_node_namespaces;
DROP TABLE geo_nodes;
