//! Broadcast messages.

use admin::broadcast::{BroadcastMessage, BroadcastType};
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct BroadcastMessageEntity {
    pub id: i64,
    pub message: String,
    #[schema(value_type = String)]
    pub starts_at: Ts,
    #[schema(value_type = String)]
    pub ends_at: Ts,
    /// Background color.
    pub color: String,
    /// Text color.
    pub font: String,
    /// Roles that the message is for.
    pub target_access_levels: Vec<i64>,
    pub target_path: Option<String>,
    #[schema(value_type = String)]
    pub broadcast_type: BroadcastType,
    /// Whether users can hide the message.
    pub dismissable: bool,
    /// Whether the message is shown now.
    pub active: bool,
}

impl BroadcastMessageEntity {
    pub fn new(message: BroadcastMessage, now: Ts) -> Self {
        Self {
            id: message.id,
            target_access_levels: message.levels(),
            active: message.is_active(now),
            message: message.message,
            starts_at: message.starts_at,
            ends_at: message.ends_at,
            color: message.color,
            font: message.font,
            target_path: message.target_path,
            broadcast_type: message.broadcast_type,
            dismissable: message.dismissable,
        }
    }
}
