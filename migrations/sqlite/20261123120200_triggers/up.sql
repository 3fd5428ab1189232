-- Tokens with which other programs make pipelines: found by their digest, and sealed, since their owner may see them again.
CREATE TABLE triggers (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    -- With whose rights; a token goes with its owner.
    owner_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_digest TEXT NOT NULL UNIQUE,
    sealed TEXT NOT NULL,
    description TEXT NOT NULL,
    last_used_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX triggers_project ON triggers (project_id, id);
CREATE INDEX triggers_owner ON triggers (owner_id);
