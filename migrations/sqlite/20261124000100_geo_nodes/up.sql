-- The places of an installation: one primary, which takes writes, and secondaries, which copy it.
CREATE TABLE geo_nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    name TEXT NOT NULL,
    -- The name in small letters: no two nodes differ in case alone.
    name_key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    -- Only where it differs from the URL.
    internal_url TEXT,
    is_primary BOOLEAN NOT NULL,
    enabled BOOLEAN NOT NULL,
    files_max_capacity BIGINT NOT NULL,
    repos_max_capacity BIGINT NOT NULL,
    verification_max_capacity BIGINT NOT NULL,
    container_repositories_max_capacity BIGINT NOT NULL,
    minimum_reverification_interval BIGINT NOT NULL,
    selective_sync_type TEXT,
    -- A JSON list of names.
    selective_sync_shards TEXT NOT NULL,
    sync_object_storage BOOLEAN NOT NULL,
    access_key TEXT NOT NULL UNIQUE,
    -- The secret half of the key pair.
    sealed TEXT NOT NULL,
    -- The OAuth application by which people sign in there; it may be gone.
    oauth_application_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX geo_nodes_primary ON geo_nodes (is_primary) WHERE is_primary;

-- The groups that a secondary copies, where it copies only some.
CREATE TABLE geo_node_namespaces (
    node_id BIGINT NOT NULL REFERENCES geo_nodes (id) ON DELETE CASCADE,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    PRIMARY KEY (node_id, namespace_id)
);
CREATE INDEX geo_node_namespaces_namespace ON geo_node_namespaces (namespace_id);

-- What each node last reported of itself.
CREATE TABLE geo_node_statuses (
    node_id BIGINT PRIMARY KEY NOT NULL REFERENCES geo_nodes (id) ON DELETE CASCADE,
    db_replication_lag_seconds BIGINT,
    last_event_id BIGINT,
    last_event_at BIGINT,
    cursor_last_event_id BIGINT,
    cursor_last_event_at BIGINT,
    last_successful_status_check_at BIGINT,
    -- What is wrong there; nothing where all is well.
    status_message TEXT,
    version TEXT,
    revision TEXT,
    storage_configuration_digest TEXT,
    -- A JSON object: counters by their names.
    counters TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
