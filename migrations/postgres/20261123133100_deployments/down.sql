DROP TABLE deployed_merge_requests;
DROP TABLE deployments;
DROP TABLE deployment_numbers;
