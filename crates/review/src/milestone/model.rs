//! A milestone, its states, and which ones are asked for.

use db::{
    keyset::{ListOrder, ListWindow, RowPosition},
    listing::Conditions,
};
use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{MilestoneId, NamespaceId, ProjectId},
};

use crate::Home;

kernel::text_enum! {
    pub enum MilestoneState { Active = "active", Closed = "closed" }
}

kernel::text_enum! {
    /// State changes of a milestone.
    pub enum StateEvent { Close = "close", Activate = "activate" }
}

impl MilestoneState {
    /// Where an event leads; happening twice changes nothing.
    pub fn after(self, event: StateEvent) -> Self {
        match (self, event) {
            (_, StateEvent::Close) => Self::Closed,
            (_, StateEvent::Activate) => Self::Active,
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::milestones, check_for_backend(db::AnyBackend))]
pub struct Milestone {
    pub id: MilestoneId,
    /// Counts within its project or group.
    pub iid: i64,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub title: String,
    pub description: Option<String>,
    pub state: MilestoneState,
    /// Days, as the moment at which they begin.
    pub start_date: Option<Ts>,
    pub due_date: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Milestone {
    /// Whether its last day is over.
    pub fn is_expired(&self, now: Ts) -> bool {
        self.due_date.is_some_and(|due| due.date() < now.date())
    }
}

/// The milestones of these places.
#[derive(Clone, Debug, Default)]
pub struct MilestoneFilter {
    pub projects: Vec<ProjectId>,
    pub groups: Vec<NamespaceId>,
    pub iids: Vec<i64>,
    pub state: Option<MilestoneState>,
    /// The whole title.
    pub title: Option<String>,
    /// One of these whole titles, where there are any.
    pub titles: Vec<String>,
    /// A part of the title or the description.
    pub search: Option<String>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    /// Only these, where there are any.
    pub ids: Vec<MilestoneId>,
    /// A part of the title alone.
    pub title_part: Option<String>,
    /// First and last day of a span. Only milestones with a start or due date whose own span meets it.
    pub timeframe: Option<(Ts, Ts)>,
    pub order: MilestoneOrder,
}

/// The order of a list of milestones. Milestones without a due date come after those with one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MilestoneOrder {
    #[default]
    NewestFirst,
    CreatedAt {
        descending: bool,
    },
    UpdatedAt {
        descending: bool,
    },
    DueDate {
        descending: bool,
    },
    /// By due date, with expired milestones at the end.
    ExpiredLast {
        descending: bool,
    },
}

impl MilestoneOrder {
    fn list_order(self) -> Option<ListOrder> {
        let by = |column, descending| ListOrder::of_number(column, descending, "milestones.id");
        match self {
            Self::NewestFirst => Some(ListOrder::of_ids("milestones.id", true)),
            Self::CreatedAt { descending } => Some(by("milestones.created_at", descending)),
            Self::UpdatedAt { descending } => Some(by("milestones.updated_at", descending)),
            Self::DueDate { descending } => {
                let due = "milestones.due_date";
                Some(ListOrder::of_optional(due, descending, "milestones.id"))
            }
            Self::ExpiredLast { .. } => None,
        }
    }

    /// The condition on the rows of a part of such a list, with the numbers in its text.
    pub(super) fn between(self, window: &ListWindow) -> Option<String> {
        let mut conditions = Conditions::default();
        self.list_order()?.narrow(&mut conditions, window);
        let text = conditions.text().replace("$(", "(");
        Some(text).filter(|text| !text.is_empty())
    }

    /// The place of a milestone in such a list; nothing where it has no parts.
    pub fn position(self, row: &Milestone) -> Option<RowPosition> {
        let value = match self {
            Self::NewestFirst => None,
            Self::CreatedAt { .. } => Some(row.created_at.0),
            Self::UpdatedAt { .. } => Some(row.updated_at.0),
            Self::DueDate { .. } => row.due_date.map(|at| at.0),
            Self::ExpiredLast { .. } => return None,
        };
        Some(RowPosition::of_number(value, row.id.0))
    }
}

impl MilestoneFilter {
    /// The milestones of one place.
    pub fn of(home: Home) -> Self {
        Self {
            projects: home.project().into_iter().collect(),
            groups: home.group().into_iter().collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum as _;

    use super::{MilestoneState, StateEvent};

    #[test]
    fn every_state_meets_every_event() {
        let mut table = String::new();
        for state in MilestoneState::ALL {
            for event in StateEvent::ALL {
                table += &format!("{state} {event} {}\n", state.after(*event));
            }
        }
        assert_eq!(
            table,
            "active close closed\nactive activate active\nclosed close closed\nclosed activate active\n"
        );
    }
}
