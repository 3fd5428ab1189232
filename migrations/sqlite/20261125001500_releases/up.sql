-- Releases say of tags what came with them.
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    author_id BIGINT,
    sha TEXT NOT NULL,
    released_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, tag)
);
CREATE INDEX releases_released_at ON releases (project_id, released_at, id);
CREATE INDEX releases_author_id ON releases (author_id);
