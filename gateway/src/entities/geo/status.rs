//! What a node reports of itself.

use std::borrow::Cow;

use geo::status::{Counters, FIGURES, Figure, actions::NodeWithStatus};
use kernel::Ts;
use org::{namespace::Namespace, project::STORAGE};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type},
    },
};

use super::node::{NodePath, NodeView};
use crate::entities::org::namespace::NamespaceEntity;

/// All fields by their names: the figures are a table of their own.
#[derive(Debug, Serialize)]
pub struct GeoNodeStatusEntity(Map<String, Value>);

/// The fields before and after the figures, with the type of each and whether it may be null.
const BEFORE: [(&str, Type, bool); 6] = [
    ("geo_node_id", Type::Integer, false),
    ("healthy", Type::Boolean, false),
    ("health", Type::String, false),
    ("health_status", Type::String, false),
    ("missing_oauth_application", Type::Boolean, false),
    ("db_replication_lag_seconds", Type::Integer, true),
];
const AFTER: [(&str, Type, bool); 14] = [
    ("last_event_id", Type::Integer, true),
    ("last_event_timestamp", Type::Integer, false),
    ("cursor_last_event_id", Type::Integer, true),
    ("cursor_last_event_timestamp", Type::Integer, false),
    ("last_successful_status_check_timestamp", Type::Integer, false),
    ("version", Type::String, true),
    ("revision", Type::String, true),
    ("container_repositories_replication_enabled", Type::Boolean, true),
    ("selective_sync_type", Type::String, true),
    ("namespaces", Type::Array, false),
    ("updated_at", Type::String, false),
    ("storage_shards", Type::Array, false),
    ("storage_shards_match", Type::Boolean, false),
    ("_links", Type::Object, false),
];

/// What the JSON of a status shows beside its row.
#[derive(Debug)]
pub struct StatusView<'a> {
    pub node: NodeView<'a>,
    /// The groups that the node is limited to.
    pub namespaces: Vec<&'a Namespace>,
    /// Whether it keeps repositories at places of the same names as the primary.
    pub has_same_storage: bool,
    pub now: Ts,
}

impl GeoNodeStatusEntity {
    pub fn new(view: &StatusView<'_>, shown: &NodeWithStatus) -> Self {
        let NodeWithStatus { node, status, missing_oauth_application } = shown;
        let (counters, now) = (status.counters(), view.now);
        let unix = |at: Option<Ts>| at.map_or(0, Ts::unix);
        let mut all = Map::new();
        let mut set = |name: &str, value: Value| {
            all.insert(name.to_owned(), value);
        };
        set("geo_node_id", json!(node.id));
        set("healthy", json!(status.is_healthy(now)));
        set("health", json!(status.health(now)));
        set("health_status", json!(status.health_status(now)));
        set("missing_oauth_application", json!(missing_oauth_application));
        set("db_replication_lag_seconds", json!(status.db_replication_lag_seconds));
        for figure in FIGURES.iter() {
            set(figure.name(), shown_figure(figure, &counters));
        }
        set("last_event_id", json!(status.last_event_id));
        set("last_event_timestamp", json!(unix(status.last_event_at)));
        set("cursor_last_event_id", json!(status.cursor_last_event_id));
        set("cursor_last_event_timestamp", json!(unix(status.cursor_last_event_at)));
        let checked = unix(status.last_successful_status_check_at);
        set("last_successful_status_check_timestamp", json!(checked));
        set("version", json!(status.version));
        set("revision", json!(status.revision));
        // There is no registry of container images that could be copied.
        set("container_repositories_replication_enabled", Value::Null);
        set("selective_sync_type", json!(node.selective_sync_type));
        let brief = |namespace: &&Namespace| NamespaceEntity::new(view.node.urls, namespace);
        set("namespaces", json!(view.namespaces.iter().map(brief).collect::<Vec<_>>()));
        set("updated_at", json!(status.updated_at));
        // What another node has is known by its digest alone.
        if view.node.identity.is(node) {
            set("storage_shards", json!([{ "name": STORAGE }]));
        }
        set("storage_shards_match", json!(node.primary || view.has_same_storage));
        let (path, urls) = (view.node.path, view.node.urls);
        let of = match path {
            NodePath::Nodes => "node",
            NodePath::Sites => "site",
        };
        let links =
            json!({ "self": path.url(urls, node, "/status"), of: path.url(urls, node, "") });
        set("_links", links);
        Self(all)
    }
}

fn shown_figure(figure: &Figure, counters: &Counters) -> Value {
    match figure {
        Figure::Count(name) => json!(counters.get(name)),
        Figure::Percentage { part, whole, .. } => json!(counters.percentage(part, whole)),
    }
}

impl ToSchema for GeoNodeStatusEntity {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("GeoNodeStatusEntity")
    }
}

impl PartialSchema for GeoNodeStatusEntity {
    fn schema() -> RefOr<Schema> {
        let mut object = ObjectBuilder::new();
        for (name, kind, is_nullable) in BEFORE {
            object = object.property(name, typed(kind, is_nullable)).required(name);
        }
        for figure in FIGURES.iter() {
            let schema = match figure {
                Figure::Count(_) => typed(Type::Integer, true),
                Figure::Percentage { .. } => typed(Type::String, false),
            };
            object = object.property(figure.name(), schema).required(figure.name());
        }
        for (name, kind, is_nullable) in AFTER {
            let schema = match kind {
                Type::Array => objects(),
                kind => typed(kind, is_nullable),
            };
            object = object.property(name, schema);
            if name != "storage_shards" {
                object = object.required(name);
            }
        }
        RefOr::T(Schema::from(object))
    }
}

fn typed(kind: Type, is_nullable: bool) -> RefOr<Schema> {
    let kind = match is_nullable {
        true => SchemaType::from_iter([kind, Type::Null]),
        false => SchemaType::from(kind),
    };
    RefOr::T(Schema::from(ObjectBuilder::new().schema_type(kind)))
}

fn objects() -> RefOr<Schema> {
    let items = ObjectBuilder::new().schema_type(Type::Object);
    RefOr::T(Schema::from(ArrayBuilder::new().items(items)))
}
