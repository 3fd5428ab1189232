-- Who counts in a top-level group, worked out when somebody asks and kept up to date from then on.
CREATE TABLE seats (
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    access_level INTEGER NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (namespace_id, user_id)
);
CREATE INDEX seats_user_id ON seats (user_id);
-- The groups whose rows hold, and until when.
CREATE TABLE seat_lists (
    namespace_id BIGINT PRIMARY KEY NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    holds_until BIGINT NOT NULL
);
