//! Parameters of milestones, in projects and groups alike.

use kernel::{Ts, ids::MilestoneId};
use review::milestone::{MilestoneFilter, MilestoneState, StateEvent, actions::MilestoneChange};
use time::Date;

use crate::{
    extract::{Change, Csv},
    param_enums, params,
};

kernel::text_enum! {
    /// Which states a list shows.
    pub enum StateFilter { Active = "active", Closed = "closed", All = "all" }
}

param_enums! { StateEvent, StateFilter }

params! {
    pub struct ListMilestones: paged {
        /// Only items with these IIDs.
        iids: Option<Csv<i64>>,
        state: StateFilter = StateFilter::All,
        /// Exact title.
        title: Option<String>,
        /// Part of the title or description.
        search: Option<String>,
        include_parent_milestones: bool = false,
        updated_before: Option<Ts>,
        updated_after: Option<Ts>,
    }
}

impl From<ListMilestones> for MilestoneFilter {
    fn from(params: ListMilestones) -> Self {
        Self {
            iids: params.iids.unwrap_or_default().0,
            state: match params.state {
                StateFilter::Active => Some(MilestoneState::Active),
                StateFilter::Closed => Some(MilestoneState::Closed),
                StateFilter::All => None,
            },
            title: params.title,
            search: params.search,
            updated_before: params.updated_before,
            updated_after: params.updated_after,
            ..Self::default()
        }
    }
}

params! {
    pub struct OneMilestone {
        milestone_id: MilestoneId,
    }
}

params! {
    pub struct CreateMilestone {
        title: String,
        description: Option<String>,
        due_date: Option<Date>,
        start_date: Option<Date>,
    }
}

impl From<CreateMilestone> for MilestoneChange {
    fn from(params: CreateMilestone) -> Self {
        Self {
            title: Some(params.title),
            description: params.description.map(Some),
            start_date: params.start_date.map(|day| Some(Ts::from_date(day))),
            due_date: params.due_date.map(|day| Some(Ts::from_date(day))),
            event: None,
        }
    }
}

params! {
    pub struct ChangeMilestone {
        title: Option<String>,
        description: Change<String>,
        due_date: Change<Date>,
        start_date: Change<Date>,
        state_event: Option<StateEvent>,
    } with at_least_one("title", "description", "due_date", "start_date", "state_event");
}

impl From<ChangeMilestone> for MilestoneChange {
    fn from(params: ChangeMilestone) -> Self {
        let day = |change: Change<Date>| change.into_update().map(|day| day.map(Ts::from_date));
        Self {
            title: params.title,
            description: params.description.into_update(),
            start_date: day(params.start_date),
            due_date: day(params.due_date),
            event: params.state_event,
        }
    }
}
