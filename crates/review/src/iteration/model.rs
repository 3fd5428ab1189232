//! An iteration, and the cadence that it belongs to.

use diesel::prelude::{Queryable, Selectable};
use kernel::{Ts, ids::NamespaceId};

kernel::text_enum! {
    /// The state of an iteration on a day.
    pub enum IterationState { Upcoming = "upcoming", Current = "current", Closed = "closed" }
}

/// Iterations that follow each other.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::iteration_cadences, check_for_backend(db::AnyBackend))]
pub struct Cadence {
    pub id: i64,
    pub namespace_id: NamespaceId,
    pub title: String,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::iterations, check_for_backend(db::AnyBackend))]
pub struct Iteration {
    pub id: i64,
    /// Counts within its group.
    pub iid: i64,
    pub namespace_id: NamespaceId,
    pub cadence_id: i64,
    /// Counts within its cadence, in the order of days.
    pub sequence: i64,
    pub title: Option<String>,
    pub description: Option<String>,
    /// The first and the last day, as the moments at which they begin.
    pub start_date: Ts,
    pub due_date: Ts,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Iteration {
    pub fn state(&self, now: Ts) -> IterationState {
        let today = Ts::from_date(now.date());
        if today < self.start_date {
            IterationState::Upcoming
        } else if today <= self.due_date {
            IterationState::Current
        } else {
            IterationState::Closed
        }
    }
}
