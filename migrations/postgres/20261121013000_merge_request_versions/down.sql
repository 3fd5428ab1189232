DROP TABLE merge_request_context_commits;
DROP TABLE merge_request_reviewers;
DROP TABLE merge_request_versions;
