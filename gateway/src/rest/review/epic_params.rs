//! Parameters of epics.

use db::Tx;
use kernel::{
    Result, Ts,
    ids::{IssueId, UserId},
};
use org::user::names::{person, person_or_nobody};
use review::{
    epic::{
        actions::EpicChange,
        list::{EpicFilter, HierarchyScope},
    },
    issue::{IssueState, IssueStep, order::Neighbors},
    item::{
        labels::LabelChange,
        list::{Direction, Fields, Order, Search, Sorting},
    },
};
use time::Date;

use super::issue_list_params::IssueStates;
use crate::{
    extract::{Change, Csv, Sort},
    param_enums, params,
    rest::shared::choices::TextsChoice,
};

kernel::text_enum! {
    pub enum EpicOrder { CreatedAt = "created_at", UpdatedAt = "updated_at", Title = "title" }
}

param_enums! { EpicOrder }

params! {
    /// Which epics a list shows.
    pub struct ListEpics: paged {
        author_id: Option<UserId>,
        author_username: Option<String>,
        /// Labels that items must all have, or `None` or `Any`.
        labels: Option<TextsChoice>,
        iids: Option<Csv<i64>>,
        /// Words that must occur in title or description.
        search: Option<String>,
        state: IssueStates = IssueStates::All,
        confidential: Option<bool>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        updated_after: Option<Ts>,
        updated_before: Option<Ts>,
        include_ancestor_groups: bool = false,
        include_descendant_groups: bool = true,
        /// Filters that exclude matching items.
        not: Option<NotEpics>,
        order_by: EpicOrder = EpicOrder::CreatedAt,
        sort: Sort = Sort::Desc,
        /// Whether labels are objects with color and description instead of names.
        with_labels_details: bool = false,
    } with exclusive("author_id", "author_username");
}

params! {
    pub struct NotEpics {
        author_id: Option<UserId>,
        author_username: Option<String>,
        labels: Option<Csv<String>>,
    }
}

impl ListEpics {
    pub(super) fn sorting(&self) -> Sorting {
        let by = match self.order_by {
            EpicOrder::CreatedAt => Order::Column("created_at"),
            EpicOrder::UpdatedAt => Order::Column("updated_at"),
            EpicOrder::Title => Order::Title,
        };
        let direction = match self.sort {
            Sort::Asc => Direction::Ascending,
            Sort::Desc => Direction::Descending,
        };
        Sorting { by, direction }
    }

    pub(super) fn filter(self, tx: &mut Tx<'_>) -> Result<EpicFilter> {
        let not = self.not;
        let (not_author, not_named, not_labels) = match not {
            Some(not) => (not.author_id, not.author_username, not.labels.unwrap_or_default().0),
            None => (None, None, Vec::new()),
        };
        let author = match self.author_username {
            Some(name) => Some(person_or_nobody(tx, &name)?),
            None => self.author_id,
        };
        let not_author = match not_named {
            Some(name) => not_author.or(person(tx, &name)?),
            None => not_author,
        };
        Ok(EpicFilter {
            around: HierarchyScope {
                ancestors: self.include_ancestor_groups,
                descendants: self.include_descendant_groups,
            },
            iids: self.iids.map(|iids| iids.0).filter(|iids| !iids.is_empty()),
            state: match self.state {
                IssueStates::Opened => Some(IssueState::Opened),
                IssueStates::Closed => Some(IssueState::Closed),
                IssueStates::All => None,
            },
            author,
            confidential: self.confidential,
            labels: self.labels.map(|labels| labels.0),
            search: self.search.map(|text| Search { text, fields: Fields::Both }),
            created_after: self.created_after,
            created_before: self.created_before,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            not_author,
            not_labels,
            board: None,
            with_issues: None,
        })
    }
}

params! {
    pub struct OneEpic {
        /// IID in the group.
        epic_iid: i64,
    }
}

params! {
    pub struct CreateEpic {
        title: String,
        description: Option<String>,
        labels: Option<Csv<String>>,
        confidential: bool = false,
        /// Color as `#rrggbb` or CSS color name.
        color: Option<String>,
        start_date_is_fixed: Option<bool>,
        start_date_fixed: Option<Date>,
        due_date_is_fixed: Option<bool>,
        due_date_fixed: Option<Date>,
        /// ID of the parent epic.
        parent_id: Option<i64>,
        /// Creation time. Owners only.
        created_at: Option<Ts>,
    }
}

impl From<CreateEpic> for EpicChange {
    fn from(params: CreateEpic) -> Self {
        let day = |day: Option<Date>| day.map(|day| Some(Ts::from_date(day)));
        Self {
            title: Some(params.title),
            description: params.description.map(Some),
            confidential: Some(params.confidential),
            color: params.color,
            labels: LabelChange {
                all: params.labels.map(|names| names.0),
                ..LabelChange::default()
            },
            start_date_fixed: day(params.start_date_fixed),
            start_date_is_fixed: params.start_date_is_fixed,
            due_date_fixed: day(params.due_date_fixed),
            due_date_is_fixed: params.due_date_is_fixed,
            step: None,
            parent: params.parent_id.map(Some),
            at: params.created_at,
        }
    }
}

params! {
    pub struct ChangeEpic {
        title: Option<String>,
        description: Change<String>,
        /// Replaces the existing ones.
        labels: Option<Csv<String>>,
        add_labels: Option<Csv<String>>,
        remove_labels: Option<Csv<String>>,
        confidential: Option<bool>,
        color: Option<String>,
        start_date_is_fixed: Option<bool>,
        start_date_fixed: Change<Date>,
        due_date_is_fixed: Option<bool>,
        due_date_fixed: Change<Date>,
        state_event: Option<IssueStep>,
        /// ID of the parent epic. `0` or an empty value removes the parent.
        parent_id: Change<i64>,
        /// Update time. Owners only.
        updated_at: Option<Ts>,
    } with at_least_one(
        "add_labels", "color", "confidential", "description", "due_date_fixed", "due_date_is_fixed", "labels",
        "parent_id", "remove_labels", "start_date_fixed", "start_date_is_fixed", "state_event", "title", "updated_at",
    );
}

impl From<ChangeEpic> for EpicChange {
    fn from(params: ChangeEpic) -> Self {
        let day = |change: Change<Date>| change.into_update().map(|day| day.map(Ts::from_date));
        let names = |names: Option<Csv<String>>| names.unwrap_or_default().0;
        Self {
            title: params.title,
            description: params.description.into_update(),
            confidential: params.confidential,
            color: params.color,
            labels: LabelChange {
                all: params.labels.map(|names| names.0),
                add: names(params.add_labels),
                remove: names(params.remove_labels),
            },
            start_date_fixed: day(params.start_date_fixed),
            start_date_is_fixed: params.start_date_is_fixed,
            due_date_fixed: day(params.due_date_fixed),
            due_date_is_fixed: params.due_date_is_fixed,
            step: params.state_event,
            parent: params.parent_id.into_update().map(|id| id.filter(|id| *id != 0)),
            at: params.updated_at,
        }
    }
}

params! {
    pub struct OneIssueToAdd {
        /// Global ID.
        issue_id: IssueId,
    }
}

params! {
    pub struct OneEpicIssue {
        /// ID of the association between epic and issue.
        epic_issue_id: IssueId,
    }
}

params! {
    pub struct ReorderEpicIssue {
        /// ID of the item that comes before this one.
        move_before_id: Option<IssueId>,
        /// ID of the item that comes after this one.
        move_after_id: Option<IssueId>,
    } with at_least_one("move_before_id", "move_after_id");
}

impl ReorderEpicIssue {
    pub(super) fn between(&self) -> Neighbors {
        Neighbors { first: self.move_before_id, second: self.move_after_id }
    }
}

params! {
    pub struct CreateChildEpic {
        title: String,
        confidential: Option<bool>,
    }
}

params! {
    pub struct OneChildEpic {
        /// Global ID.
        child_epic_id: i64,
    }
}

params! {
    pub struct ReorderChildEpic {
        /// ID of the item that comes before this one.
        move_before_id: Option<i64>,
        /// ID of the item that comes after this one.
        move_after_id: Option<i64>,
    } with at_least_one("move_before_id", "move_after_id");
}
