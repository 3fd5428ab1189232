DROP TABLE merge_request_rebases;
