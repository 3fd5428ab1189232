-- With what, and from where, an issue was written.
CREATE TABLE issue_origins (
    issue_id BIGINT PRIMARY KEY NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_agent TEXT COLLATE "C" NOT NULL,
    ip_address TEXT COLLATE "C" NOT NULL
);
