//! Parameters of issue lists.

use db::Tx;
use kernel::{
    Error, Result,
    ids::{IssueId, UserId},
};
use org::settings::store::SettingsStore as _;
use review::{
    issue::{
        IssueState, IssueType,
        list::{Due, IssueFilter, IterationChoice, NotFilter},
    },
    item::list::{Choice, Direction, NotCommon, Order, Sorting},
};

use super::item_list_params::{FilterItems, NotItems, Share};
use crate::{
    extract::{Csv, Sort},
    param_enums, params,
    rest::shared::choices::{HealthChoice, IterationWord, MilestoneWord, NumberChoice, TextChoice},
};

kernel::text_enum! {
    /// Which states a list shows.
    pub enum IssueStates { Opened = "opened", Closed = "closed", All = "all" }
}

kernel::text_enum! {
    /// Whose issues a list shows.
    pub enum IssueScope {
        CreatedByMe = "created_by_me",
        AssignedToMe = "assigned_to_me",
        All = "all",
        CreatedByMeDashed = "created-by-me",
        AssignedToMeDashed = "assigned-to-me",
    }
}

kernel::text_enum! {
    pub enum IssueOrder {
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        DueDate = "due_date",
        LabelPriority = "label_priority",
        MilestoneDue = "milestone_due",
        Popularity = "popularity",
        Priority = "priority",
        RelativePosition = "relative_position",
        Title = "title",
        Weight = "weight",
    }
}

param_enums! { IssueStates, IssueScope, IssueOrder, IssueType, Due }

params! {
    /// Which issues a list shows, beside what other items are chosen by.
    pub struct FilterIssues: paged {
        milestone_id: Option<MilestoneWord>,
        /// Filters that exclude matching items.
        not: Option<(NotItems, NotIssues)>,
        confidential: Option<bool>,
        due_date: Option<DueChoice>,
        issue_type: Option<IssueType>,
        closed_by_id: Option<UserId>,
        weight: Option<NumberChoice>,
        epic_id: Option<NumberChoice>,
        iteration_id: Option<IterationWord>,
        iteration_title: Option<TextChoice>,
        health_status: Option<HealthChoice>,
        scope: Option<IssueScope>,
    } with exclusive("milestone", "milestone_id"), exclusive("iteration_id", "iteration_title");
}

params! {
    pub struct NotIssues {
        milestone_id: Option<MilestoneWord>,
        iids: Option<Csv<i64>>,
        weight: Option<NumberChoice>,
        epic_id: Option<NumberChoice>,
        iteration_id: Option<IterationWord>,
        iteration_title: Option<TextChoice>,
    }
}

/// The filters of a list of issues.
pub type IssueFilters = (FilterItems, FilterIssues);

params! {
    /// How a list shows them.
    pub struct ShowIssues: paged {
        state: IssueStates = IssueStates::All,
        order_by: IssueOrder = IssueOrder::CreatedAt,
        sort: Sort = Sort::Desc,
        /// Whether labels are objects with color and description instead of names.
        with_labels_details: bool = false,
    }
}

params! {
    pub struct ArchiveFilter {
        /// Whether to leave out issues of archived projects.
        non_archived: bool = true,
    }
}

/// A span in which issues are due; a blank is none.
#[derive(Clone, Copy, Debug)]
pub struct DueChoice(Due);

impl crate::extract::Param for DueChoice {
    fn read(raw: &crate::extract::Raw) -> Result<Option<Self>, crate::extract::ParamErrors> {
        match String::read(raw)? {
            Some(text) if text.is_empty() => Ok(Some(Self(Due::None))),
            _ => Ok(Due::read(raw)?.map(Self)),
        }
    }

    fn schema() -> serde_json::Value {
        Due::schema()
    }
}

/// The filter, for somebody. `scope` holds where none is asked for.
pub fn filter(
    (items, issues): IssueFilters,
    tx: &mut Tx<'_>,
    caller: Option<UserId>,
    scope: IssueScope,
    state: Option<IssueState>,
) -> Result<IssueFilter> {
    let share = issues.scope.unwrap_or(scope).share(caller)?;
    let (not_items, not) = match issues.not {
        Some((items, issues)) => (items.filter(tx)?, Some(issues)),
        None => (NotCommon::default(), None),
    };
    let mut common = items.filter(tx, share, not_items)?;
    common.milestone = common.milestone.or(issues.milestone_id.map(Into::into));
    let milestone = not.as_ref().and_then(|not| not.milestone_id);
    common.not.milestone = common.not.milestone.or(milestone.map(MilestoneWord::into_left_out));
    Ok(IssueFilter {
        common,
        state,
        issue_type: issues.issue_type,
        confidential: issues.confidential,
        first_day_of_week: match &issues.due_date {
            Some(DueChoice(Due::Week)) => tx.settings()?.first_day_of_week(),
            _ => 0,
        },
        due: issues.due_date.map(|due| due.0),
        closed_by: issues.closed_by_id,
        weight: issues.weight.map(|weight| weight.0),
        epic: issues.epic_id.map(|epic| epic.0),
        iteration: iteration(issues.iteration_id, issues.iteration_title),
        health: issues.health_status.map(|health| health.0),
        not: not.map(NotFilter::from).unwrap_or_default(),
        ..IssueFilter::default()
    })
}

impl IssueScope {
    fn share(self, caller: Option<UserId>) -> Result<Share> {
        let own = || caller.ok_or_else(Error::unauthenticated);
        Ok(match self {
            Self::All => Share::default(),
            Self::CreatedByMe | Self::CreatedByMeDashed => {
                Share { author: Some(own()?), assignee: None }
            }
            Self::AssignedToMe | Self::AssignedToMeDashed => {
                Share { author: None, assignee: Some(own()?) }
            }
        })
    }
}

impl From<NotIssues> for NotFilter {
    fn from(not: NotIssues) -> Self {
        Self {
            iids: not.iids.map(|iids| iids.0),
            weight: not.weight.map(|weight| weight.0),
            epic: not.epic_id.map(|epic| epic.0),
            iteration: iteration(not.iteration_id, not.iteration_title),
            ..Self::default()
        }
    }
}

fn iteration(
    id: Option<IterationWord>,
    title: Option<TextChoice>,
) -> Option<Choice<IterationChoice>> {
    id.map(|id| id.0).or(title.map(TextChoice::into_iteration))
}

impl ShowIssues {
    pub fn state(&self) -> Option<IssueState> {
        match self.state {
            IssueStates::Opened => Some(IssueState::Opened),
            IssueStates::Closed => Some(IssueState::Closed),
            IssueStates::All => None,
        }
    }

    pub fn sorting(&self) -> Sorting {
        let by = match self.order_by {
            IssueOrder::CreatedAt => Order::Id,
            IssueOrder::UpdatedAt => Order::Column("updated_at"),
            IssueOrder::DueDate => Order::Optional("due_date"),
            IssueOrder::LabelPriority => Order::LabelPriority,
            IssueOrder::MilestoneDue => Order::MilestoneDue,
            IssueOrder::Popularity => Order::Column("upvotes"),
            IssueOrder::Priority => Order::Priority,
            IssueOrder::RelativePosition => Order::Column("relative_position"),
            IssueOrder::Title => Order::Title,
            IssueOrder::Weight => Order::Optional("weight"),
        };
        // People put issues in this order from the first on; it has no other way round.
        let given = self.order_by == IssueOrder::RelativePosition;
        let direction = match self.sort {
            Sort::Desc if !given => Direction::Descending,
            _ => Direction::Ascending,
        };
        Sorting { by, direction }
    }
}

params! {
    pub struct OneIssueById {
        /// Global ID.
        issue_id: IssueId,
    }
}
