//! A node.

use forge::urls::Urls;
use geo::{
    Identity,
    node::{GeoNode, SelectiveSync},
};
use kernel::ids::NamespaceId;
use serde::Serialize;
use utoipa::ToSchema;

/// By which of its two names the resource was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePath {
    Nodes,
    Sites,
}

impl NodePath {
    /// By the path of a request.
    pub fn of(path: &str) -> Self {
        if path.contains("/geo_sites") { Self::Sites } else { Self::Nodes }
    }

    /// The URL of a node, below the root of the API.
    pub(super) fn url(self, urls: &Urls, node: &GeoNode, rest: &str) -> String {
        let name = match self {
            Self::Nodes => "geo_nodes",
            Self::Sites => "geo_sites",
        };
        urls.at(&format!("api/v4/{name}/{}{rest}", node.id))
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct GeoNodeEntity {
    pub id: i64,
    pub name: String,
    pub url: String,
    /// The URL where the node has no internal one.
    pub internal_url: String,
    pub primary: bool,
    pub enabled: bool,
    /// Whether the server that answers runs as this node.
    pub current: bool,
    pub files_max_capacity: i64,
    pub repos_max_capacity: i64,
    pub verification_max_capacity: i64,
    pub container_repositories_max_capacity: i64,
    #[schema(value_type = Option<String>)]
    pub selective_sync_type: Option<SelectiveSync>,
    pub selective_sync_shards: Vec<String>,
    pub selective_sync_namespace_ids: Vec<i64>,
    /// In days.
    pub minimum_reverification_interval: i64,
    /// Of secondaries only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_object_storage: Option<bool>,
    /// Always `http`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_protocol: Option<&'static str>,
    pub web_edit_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_geo_projects_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_geo_replication_details_url: Option<String>,
    #[serde(rename = "_links")]
    pub links: NodeLinks,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NodeLinks {
    #[serde(rename = "self")]
    pub itself: String,
    pub status: String,
    pub repair: String,
}

/// What the JSON of nodes shows beside their rows.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    pub urls: &'a Urls,
    pub identity: &'a Identity,
    pub path: NodePath,
}

impl GeoNodeEntity {
    /// `chosen` are the groups that the node is limited to.
    pub fn new(view: NodeView<'_>, node: &GeoNode, chosen: &[NamespaceId]) -> Self {
        let NodeView { urls, identity, path } = view;
        let there = |place: &str| (!node.primary).then(|| format!("{}{place}", node.url));
        let details = format!("admin/geo/sites/{}/replication/lfs_objects", node.id);
        Self {
            id: node.id.0,
            name: node.name.clone(),
            url: node.url.clone(),
            internal_url: node.internal_url().to_owned(),
            primary: node.primary,
            enabled: node.enabled,
            current: identity.is(node),
            files_max_capacity: node.files_max_capacity,
            repos_max_capacity: node.repos_max_capacity,
            verification_max_capacity: node.verification_max_capacity,
            container_repositories_max_capacity: node.container_repositories_max_capacity,
            selective_sync_type: node.selective_sync_type,
            selective_sync_shards: node.shards(),
            selective_sync_namespace_ids: chosen.iter().map(|id| id.0).collect(),
            minimum_reverification_interval: node.minimum_reverification_interval,
            sync_object_storage: (!node.primary).then_some(node.sync_object_storage),
            clone_protocol: (path == NodePath::Nodes).then_some("http"),
            web_edit_url: urls.at(&format!("admin/geo/sites/{}/edit", node.id)),
            web_geo_projects_url: there("admin/geo/projects"),
            web_geo_replication_details_url: there(&details),
            links: NodeLinks {
                itself: path.url(urls, node, ""),
                status: path.url(urls, node, "/status"),
                repair: path.url(urls, node, "/repair"),
            },
        }
    }
}
