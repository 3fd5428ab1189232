//! The status that a node reports.

use std::borrow::Cow;

use geo::status::{Counters, FIGURES, Figure, actions::NodeWithStatus};
use kernel::Ts;
use org::{namespace::Namespace, project::STORAGE};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type},
    },
};

use super::node::{NodePath, NodeView};
use crate::org::namespace::NamespaceEntity;

/// All fields by their names: the figures are a table of their own.
#[derive(Debug)]
pub struct GeoNodeStatusEntity {
    before: [Value; BEFORE.len()],
    counters: Counters,
    /// `None` where a field is left out.
    after: [Option<Value>; AFTER.len()],
}

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
    ("container_repositories_replication_enabled", Type::Boolean, false),
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
    /// Whether the places are named where they are known; lists are read from what is stored, which does not hold them.
    pub names_storage: bool,
    pub now: Ts,
}

impl GeoNodeStatusEntity {
    pub fn new(view: &StatusView<'_>, shown: &NodeWithStatus) -> Self {
        let NodeWithStatus { node, status, missing_oauth_application } = shown;
        let now = view.now;
        let before = [
            json!(node.id),
            json!(status.is_healthy(now)),
            json!(status.health(now)),
            json!(status.health_status(now)),
            json!(missing_oauth_application),
            json!(status.db_replication_lag_seconds),
        ];
        Self { before, counters: status.counters(), after: after(view, shown) }
    }
}

/// What is shown behind the figures, in the order of [`AFTER`].
fn after(view: &StatusView<'_>, shown: &NodeWithStatus) -> [Option<Value>; AFTER.len()] {
    let NodeWithStatus { node, status, .. } = shown;
    let unix = |at: Option<Ts>| json!(at.map_or(0, Ts::unix));
    let brief = |namespace: &&Namespace| NamespaceEntity::new(view.node.urls, namespace);
    // What another node has is known by its digest alone.
    let is_known = view.names_storage && view.node.identity.is(node);
    let shards = is_known.then(|| json!([{ "name": STORAGE }]));
    let (path, urls) = (view.node.path, view.node.urls);
    let of = match path {
        NodePath::Nodes => "node",
        NodePath::Sites => "site",
    };
    [
        Some(json!(status.last_event_id)),
        Some(unix(status.last_event_at)),
        Some(json!(status.cursor_last_event_id)),
        Some(unix(status.cursor_last_event_at)),
        Some(unix(status.last_successful_status_check_at)),
        Some(json!(status.version)),
        Some(json!(status.revision)),
        // There is no registry of container images that could be copied.
        Some(json!(false)),
        Some(json!(node.selective_sync_type)),
        Some(json!(view.namespaces.iter().map(brief).collect::<Vec<_>>())),
        Some(json!(status.updated_at)),
        shards,
        Some(json!(node.primary || view.has_same_storage)),
        Some(json!({ "self": path.url(urls, node, "/status"), of: path.url(urls, node, "") })),
    ]
}

impl Serialize for GeoNodeStatusEntity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for ((name, ..), value) in BEFORE.iter().zip(&self.before) {
            map.serialize_entry(name, value)?;
        }
        for figure in FIGURES.iter() {
            match figure {
                Figure::Count { name, place } => {
                    map.serialize_entry(name, &self.counters.at(*place))?;
                }
                Figure::Percentage { name, part, whole } => {
                    map.serialize_entry(name, &self.counters.percentage(*part, *whole))?;
                }
            }
        }
        for ((name, ..), value) in AFTER.iter().zip(&self.after) {
            if let Some(value) = value {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
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
                Figure::Count { .. } => typed(Type::Integer, true),
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
