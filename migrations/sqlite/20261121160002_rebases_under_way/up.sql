-- Merge requests whose branches are being moved onto their targets, and until when whoever does that has said to be there.
CREATE TABLE merge_request_rebases (
    merge_request_id BIGINT PRIMARY KEY NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    held_until BIGINT NOT NULL
);
