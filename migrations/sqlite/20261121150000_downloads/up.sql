-- Which projects somebody took from a top-level group that lets one person have only so many in a while.
CREATE TABLE project_downloads (
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    downloaded_at BIGINT NOT NULL,
    PRIMARY KEY (namespace_id, user_id, project_id)
);
CREATE INDEX project_downloads_user_id ON project_downloads (user_id);
CREATE INDEX project_downloads_project_id ON project_downloads (project_id);
-- Who is locked out of a group and all below it, whatever roles they were given there.
CREATE TABLE namespace_bans (
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (namespace_id, user_id)
);
CREATE INDEX namespace_bans_user_id ON namespace_bans (user_id);
