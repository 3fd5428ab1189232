//! Audit events.

use admin::audit::AuditEvent;
use kernel::Ts;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The id of who did what the server did by itself.
const NOBODY: i64 = -1;

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditEventEntity {
    pub id: i64,
    /// ID of the user who caused the event; -1 if there is none.
    pub author_id: i64,
    pub entity_id: i64,
    pub entity_type: String,
    /// Name of the kind of event.
    pub event_name: String,
    /// Details of the event: the change and its target.
    #[schema(value_type = Object)]
    pub details: Value,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

impl From<AuditEvent> for AuditEventEntity {
    fn from(event: AuditEvent) -> Self {
        Self {
            id: event.id,
            author_id: event.author_id.map_or(NOBODY, |id| id.0),
            entity_id: event.entity_id,
            entity_type: event.entity_type,
            event_name: event.event_name,
            details: serde_json::from_str(&event.details).unwrap_or_default(),
            created_at: event.created_at,
        }
    }
}
