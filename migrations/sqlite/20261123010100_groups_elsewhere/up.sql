-- Groups of a directory, or those that a filter finds there, whose people are to have a role.
CREATE TABLE ldap_group_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    cn TEXT,
    filter TEXT,
    access_level INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, provider, cn),
    UNIQUE (namespace_id, provider, filter)
);
-- Groups that a sign-in elsewhere tells of, whose people are to have a role.
CREATE TABLE saml_group_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    access_level INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (namespace_id, name)
);
-- Whom a group brought here.
CREATE INDEX user_accounts_provisioned_by ON user_accounts (provisioned_by_group_id, user_id) WHERE provisioned_by_group_id IS NOT NULL;
