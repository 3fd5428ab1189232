//! A broadcast message as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{AccessLevel, Ts};

kernel::text_enum! {
    /// The form in which a message is shown.
    pub enum BroadcastType { Banner = "banner", Notification = "notification" }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::broadcast_messages, check_for_backend(db::AnyBackend))]
pub struct BroadcastMessage {
    pub id: i64,
    pub message: String,
    pub starts_at: Ts,
    pub ends_at: Ts,
    pub color: String,
    pub font: String,
    /// A JSON list of the roles for whom it is; nobody in particular where it is empty.
    pub target_access_levels: String,
    /// For which paths it is, with `*` for anything.
    pub target_path: Option<String>,
    pub broadcast_type: BroadcastType,
    pub dismissable: bool,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl BroadcastMessage {
    /// Roles that a message can be for.
    pub const LEVELS: [AccessLevel; 5] = [
        AccessLevel::Guest,
        AccessLevel::Reporter,
        AccessLevel::Developer,
        AccessLevel::Maintainer,
        AccessLevel::Owner,
    ];

    pub fn is_active(&self, now: Ts) -> bool {
        self.starts_at <= now && now < self.ends_at
    }

    pub fn levels(&self) -> Vec<i64> {
        serde_json::from_str(&self.target_access_levels).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::{BroadcastMessage, BroadcastType};

    #[test]
    fn a_message_is_active_from_its_start_until_its_end() {
        let message = BroadcastMessage {
            id: 1,
            message: "Down at noon".to_owned(),
            starts_at: Ts(10),
            ends_at: Ts(20),
            color: String::new(),
            font: String::new(),
            target_access_levels: "[30]".to_owned(),
            target_path: None,
            broadcast_type: BroadcastType::Banner,
            dismissable: false,
            created_at: Ts(0),
            updated_at: Ts(0),
        };
        let active = [9, 10, 19, 20].map(|now| message.is_active(Ts(now)));
        assert_eq!(active, [false, true, true, false]);
        assert_eq!(message.levels(), [30]);
    }
}
