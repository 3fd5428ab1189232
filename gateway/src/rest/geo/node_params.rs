//! Parameters of nodes.

use geo::{node::NodeChange, status::is_counter};
use kernel::ids::{GeoNodeId, NamespaceId};
use serde_json::{Value, json};

use crate::{
    extract::{Change, Csv, Param, ParamErrors, Raw, params::INVALID},
    params,
};

params! {
    pub struct OneNode {
        id: GeoNodeId,
    }
}

params! {
    pub struct NodeAddress {
        /// Unique, whatever the letter case; at most 255 characters. The server whose setting `geo_node` has this name,
        /// or else whose external URL it is, runs as this node.
        name: String,
        /// URL under which people reach the node; `http` or `https`.
        url: String,
    }
}

params! {
    pub struct NodeFields {
        /// Whether it takes writes; there is one such node. Default of a new node: false.
        primary: Option<bool>,
        /// Whether it is in use; a primary always is. Default of a new node: true.
        enabled: Option<bool>,
        /// URL under which other nodes reach it. Default: `url`.
        internal_url: Change<String>,
        /// Files that a secondary copies at once. Default of a new node: 10.
        files_max_capacity: Option<i64>,
        /// Repositories that a secondary copies at once. Default of a new node: 25.
        repos_max_capacity: Option<i64>,
        /// Checks that run at once. Default of a new node: 100.
        verification_max_capacity: Option<i64>,
        /// Container repositories that a secondary copies at once. Default of a new node: 10.
        container_repositories_max_capacity: Option<i64>,
        /// Whether a secondary copies what lies in object storage. Default of a new node: false.
        sync_object_storage: Option<bool>,
        /// By what a secondary copies a part only: `namespaces` or `shards`.
        selective_sync_type: Change<String>,
        /// Names of the storages whose repositories a secondary copies.
        selective_sync_shards: Option<Csv<String>>,
        /// Ids of the groups that a secondary copies.
        selective_sync_namespace_ids: Option<Csv<i64>>,
        /// Days until a checksum is compared again; at least 1. Default of a new node: 7.
        minimum_reverification_interval: Option<i64>,
    }
}

impl NodeFields {
    pub fn into_change(self, address: NodeAddress) -> NodeChange {
        let ids = |ids: Csv<i64>| ids.0.into_iter().map(NamespaceId).collect();
        NodeChange {
            name: Some(address.name),
            url: Some(address.url),
            internal_url: self.internal_url.into_update(),
            primary: self.primary,
            enabled: self.enabled,
            files_max_capacity: self.files_max_capacity,
            repos_max_capacity: self.repos_max_capacity,
            verification_max_capacity: self.verification_max_capacity,
            container_repositories_max_capacity: self.container_repositories_max_capacity,
            minimum_reverification_interval: self.minimum_reverification_interval,
            sync_object_storage: self.sync_object_storage,
            selective_sync_type: self.selective_sync_type.into_update(),
            selective_sync_shards: self.selective_sync_shards.map(|names| names.0),
            selective_sync_namespace_ids: self.selective_sync_namespace_ids.map(ids),
        }
    }
}

/// Counters by their names. What no status has is left out, whatever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterMap(pub Vec<(String, i64)>);

impl Param for CounterMap {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let map = match raw {
            Raw::Null => return Ok(None),
            Raw::Map(map) => map,
            _ => return Err(ParamErrors::one(INVALID)),
        };
        let mut found = Vec::new();
        let mut flaws = ParamErrors::default();
        for (name, value) in map.iter().filter(|(name, _)| is_counter(name)) {
            match i64::read(value) {
                Ok(Some(number)) => found.push((name.to_owned(), number)),
                Ok(None) => {}
                Err(inner) => flaws.add_under(&format!("[{name}]"), inner),
            }
        }
        if flaws.is_empty() { Ok(Some(Self(found))) } else { Err(flaws) }
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": ["integer", "null"] } })
    }
}
