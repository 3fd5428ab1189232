-- How many were invited into a namespace at the top, and all in it, on the last day on which anybody was.
CREATE TABLE daily_invites (
    namespace_id BIGINT PRIMARY KEY NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    day BIGINT NOT NULL,
    made BIGINT NOT NULL
);
