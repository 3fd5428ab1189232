//! Events of time tracking.

use kernel::{
    Ts,
    ids::{ProjectId, UserId},
};
use serde::Serialize;

use super::store::TimeStats;
use crate::item::{Item, ItemKind};

/// An item takes, or took, another time than before; in seconds.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "time_changed")]
pub struct Event {
    pub item_kind: ItemKind,
    pub item: i64,
    pub project: Option<ProjectId>,
    pub estimate: i64,
    pub spent: i64,
    /// By how much each of them grew.
    pub estimated_more: i64,
    pub spent_more: i64,
    pub user: UserId,
    /// When it had been changed before, for those who hear of it at once.
    #[serde(skip)]
    pub updated_before: Ts,
}

impl Event {
    pub(super) fn new(item: &Item, before: &TimeStats, after: &TimeStats, user: UserId) -> Self {
        Self {
            item_kind: item.id.kind,
            item: item.id.id,
            project: item.project(),
            estimate: after.estimate,
            spent: after.spent,
            estimated_more: after.estimate.saturating_sub(before.estimate),
            spent_more: after.spent.saturating_sub(before.spent),
            user,
            updated_before: item.updated_at,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        "item.time_changed"
    }

    fn project(&self) -> Option<ProjectId> {
        self.project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
