-- Groups whose members have a role in another group, too.
CREATE TABLE group_group_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    invited_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, invited_id)
);
CREATE INDEX group_group_links_invited_id ON group_group_links (invited_id);

-- What ends is found without looking at what does not.
CREATE INDEX members_expires_at ON members (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX project_group_links_expires_at ON project_group_links (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX group_group_links_expires_at ON group_group_links (expires_at) WHERE expires_at IS NOT NULL;

-- Until when a role holds; by default for longer than anybody asks for.
ALTER TABLE project_access ADD COLUMN until BIGINT NOT NULL DEFAULT 799999999999999999;
ALTER TABLE namespace_access ADD COLUMN until BIGINT NOT NULL DEFAULT 799999999999999999;

-- Groups that are to go on a day to come, and who asked for it.
ALTER TABLE namespaces ADD COLUMN marked_for_deletion_at BIGINT;
ALTER TABLE namespaces ADD COLUMN marked_by BIGINT;
CREATE INDEX namespaces_marked_for_deletion_at ON namespaces (marked_for_deletion_at) WHERE marked_for_deletion_at IS NOT NULL;

-- What is gone for everybody and still has rows.
CREATE INDEX namespaces_deleted_at ON namespaces (deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_deleted_at ON projects (deleted_at, id) WHERE deleted_at IS NOT NULL;
