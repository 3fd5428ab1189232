//! What lists of issues take.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    ids::{IssueId, UserId},
};
use org::user::names;
use review::{
    issue::{
        IssueState, IssueType,
        list::{Due, IssueFilter, IterationChoice, NotFilter},
    },
    item::list::{Choice, Direction, Fields, Order, Search, Sorting},
};

use super::choices::{
    HealthChoice, IterationWord, MilestoneWord, NumberChoice, SearchedFields, TextChoice,
    TextsChoice,
};
use crate::{
    extract::{Csv, Sort},
    param_enums, params,
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
    /// Which issues a list shows.
    pub struct FilterIssues: paged {
        /// All of these, or `None` and `Any`.
        labels: Option<TextsChoice>,
        /// A title, or `None` and `Any`.
        milestone: Option<TextChoice>,
        milestone_id: Option<MilestoneWord>,
        iids: Option<Csv<i64>>,
        /// All of these words in one field.
        search: Option<String>,
        r#in: Option<SearchedFields>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        updated_after: Option<Ts>,
        updated_before: Option<Ts>,
        /// What is not wanted.
        not: Option<NotIssues>,
        my_reaction_emoji: Option<TextChoice>,
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
    } with exclusive("milestone", "milestone_id"), exclusive("author_id", "author_username"),
        exclusive("assignee_id", "assignee_username"), exclusive("iteration_id", "iteration_title");
}

params! {
    pub struct NotIssues {
        labels: Option<Csv<String>>,
        milestone: Option<TextChoice>,
        milestone_id: Option<MilestoneWord>,
        iids: Option<Csv<i64>>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
        weight: Option<NumberChoice>,
        epic_id: Option<NumberChoice>,
        iteration_id: Option<IterationWord>,
        iteration_title: Option<TextChoice>,
    }
}

params! {
    /// How a list shows them.
    pub struct ShowIssues: paged {
        state: IssueStates = IssueStates::All,
        order_by: IssueOrder = IssueOrder::CreatedAt,
        sort: Sort = Sort::Desc,
        /// With the colour and description of each label.
        with_labels_details: bool = false,
    }
}

params! {
    pub struct NonArchived {
        /// Without issues of archived projects.
        non_archived: bool = true,
    }
}

/// A span in which issues are due; a blank is none.
#[derive(Clone, Copy, Debug)]
pub struct DueChoice(Due);

impl crate::extract::Param for DueChoice {
    fn read(raw: &crate::extract::Raw) -> Result<Option<Self>, crate::extract::Flaws> {
        match String::read(raw)? {
            Some(text) if text.is_empty() => Ok(Some(Self(Due::None))),
            _ => Ok(Due::read(raw)?.map(Self)),
        }
    }

    fn schema() -> serde_json::Value {
        Due::schema()
    }
}

/// Somebody's id where nobody is meant.
const NOBODY: UserId = UserId(0);

impl FilterIssues {
    /// The filter, for somebody. `scope` holds where none is asked for.
    pub fn filter(
        self,
        tx: &mut Tx<'_>,
        caller: Option<UserId>,
        scope: IssueScope,
        state: Option<IssueState>,
    ) -> Result<IssueFilter> {
        let mut authors: Vec<UserId> = self.author_id.into_iter().collect();
        if let Some(name) = self.author_username {
            authors.push(person(tx, name)?.unwrap_or(NOBODY));
        }
        let mut assignees: Vec<Choice<Vec<UserId>>> =
            self.assignee_id.as_ref().map(people).into_iter().collect();
        if let Some(Csv(names)) = self.assignee_username {
            assignees.push(Choice::These(all_people(tx, &names)?));
        }
        match self.scope.unwrap_or(scope) {
            IssueScope::All => {}
            IssueScope::CreatedByMe | IssueScope::CreatedByMeDashed => {
                authors.push(caller.ok_or(Error::Unauthenticated)?);
            }
            IssueScope::AssignedToMe | IssueScope::AssignedToMeDashed => {
                assignees.push(Choice::These(vec![caller.ok_or(Error::Unauthenticated)?]));
            }
        }
        let fields = self.r#in.map_or(Fields::Both, |fields| fields.0);
        let milestone = self.milestone.map(TextChoice::into_milestone);
        Ok(IssueFilter {
            state,
            issue_type: self.issue_type,
            confidential: self.confidential,
            created_after: self.created_after,
            created_before: self.created_before,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            due: self.due_date.map(|due| due.0),
            search: self.search.map(|text| Search { text, fields }),
            authors,
            assignees,
            closed_by: self.closed_by_id,
            iids: self.iids.map(|iids| iids.0).filter(|iids| !iids.is_empty()),
            labels: self.labels.map(|labels| labels.0),
            milestone: milestone.or(self.milestone_id.map(Into::into)),
            weight: self.weight.map(|weight| weight.0),
            epic: self.epic_id.map(|epic| epic.0),
            iteration: iteration(self.iteration_id, self.iteration_title),
            health: self.health_status.map(|health| health.0),
            reaction: self.my_reaction_emoji.map(|reaction| reaction.0),
            not: match self.not {
                Some(not) => not.filter(tx)?,
                None => NotFilter::default(),
            },
        })
    }
}

impl NotIssues {
    fn filter(self, tx: &mut Tx<'_>) -> Result<NotFilter> {
        let named = match self.author_username {
            Some(name) => person(tx, name)?,
            None => None,
        };
        let assignees = match self.assignee_username {
            Some(Csv(names)) => Some(Choice::These(known_people(tx, &names)?)),
            None => None,
        };
        let milestone = self.milestone.map(TextChoice::into_milestone);
        Ok(NotFilter {
            labels: self.labels.unwrap_or_default().0,
            milestone: milestone.or(self.milestone_id.map(MilestoneWord::into_left_out)),
            iids: self.iids.map(|iids| iids.0),
            author: self.author_id.or(named),
            assignee: self.assignee_id.as_ref().map(people).or(assignees),
            weight: self.weight.map(|weight| weight.0),
            epic: self.epic_id.map(|epic| epic.0),
            iteration: iteration(self.iteration_id, self.iteration_title),
        })
    }
}

fn iteration(
    id: Option<IterationWord>,
    title: Option<TextChoice>,
) -> Option<Choice<IterationChoice>> {
    id.map(|id| id.0).or(title.map(TextChoice::into_iteration))
}

fn people(choice: &NumberChoice) -> Choice<Vec<UserId>> {
    match &choice.0 {
        // Older clients say 0 for nobody.
        Choice::Nothing | Choice::These(0) => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(id) => Choice::These(vec![UserId(*id)]),
    }
}

fn person(tx: &mut Tx<'_>, name: String) -> Result<Option<UserId>> {
    Ok(names::ids_of(tx, &[name])?.into_values().next())
}

/// Each of these people; who is unknown is nobody.
fn all_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    let found = names::ids_of(tx, given)?;
    Ok(given.iter().map(|name| found.get(name).copied().unwrap_or(NOBODY)).collect())
}

fn known_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    Ok(names::ids_of(tx, given)?.into_values().collect())
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
            IssueOrder::Title => Order::Column("title"),
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
        /// Its number in the whole installation.
        issue_id: IssueId,
    }
}
