DROP TABLE merge_request_closes;
DROP INDEX merge_requests_locked;
ALTER TABLE merge_requests DROP COLUMN looks;
ALTER TABLE merge_requests DROP COLUMN locked_at;
