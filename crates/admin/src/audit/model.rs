//! An audit event as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::audit_events, check_for_backend(db::AnyBackend))]
pub struct AuditEvent {
    pub id: i64,
    /// Whose doing it is; nobody's where the server did it by itself.
    pub author_id: Option<UserId>,
    pub author_name: String,
    pub entity_type: String,
    pub entity_id: i64,
    pub entity_path: String,
    pub event_name: String,
    /// A JSON object.
    pub details: String,
    pub created_at: Ts,
}

/// The object that an audit event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    User(UserId),
    Group(NamespaceId),
    Project(ProjectId),
    /// The installation itself.
    Instance,
}

impl Entity {
    /// The names that the API has for entities.
    pub const TYPES: [&'static str; 4] =
        ["User", "Group", "Project", "Gitlab::Audit::InstanceScope"];

    pub fn type_name(self) -> &'static str {
        let [user, group, project, instance] = Self::TYPES;
        match self {
            Self::User(_) => user,
            Self::Group(_) => group,
            Self::Project(_) => project,
            Self::Instance => instance,
        }
    }

    pub fn id(self) -> i64 {
        match self {
            Self::User(id) => id.0,
            Self::Group(id) => id.0,
            Self::Project(id) => id.0,
            Self::Instance => 1,
        }
    }
}

/// An audit event that is to be written.
#[derive(Clone, Debug)]
pub struct NewAuditEvent {
    pub author_id: Option<UserId>,
    pub author_name: String,
    pub entity: Entity,
    pub entity_path: String,
    pub event_name: &'static str,
    pub details: Map<String, Value>,
}

/// Which audit events are wanted.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub entity_type: Option<String>,
    pub entity_id: Option<i64>,
    pub author_id: Option<UserId>,
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    /// With `page` only the page's length counts: what comes before this id is wanted.
    pub id_before: Option<i64>,
}

impl AuditFilter {
    /// Those about one entity.
    pub fn about(entity: Entity) -> Self {
        Self {
            entity_type: Some(entity.type_name().to_owned()),
            entity_id: Some(entity.id()),
            ..Self::default()
        }
    }
}
