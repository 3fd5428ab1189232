DROP TABLE merge_request_commits;
