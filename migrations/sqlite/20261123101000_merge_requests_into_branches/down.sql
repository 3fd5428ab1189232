DROP INDEX merge_requests_waiting;
DROP INDEX merge_requests_target_head;
DROP INDEX merge_requests_target_status;
