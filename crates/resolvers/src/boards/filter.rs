//! Item filters of board lists.

use db::Tx;
use graphql::{Arguments, Failure};
use kernel::{Actor, Result as Kept, ids::UserId};
use org::user::names::person;
use review::{
    board::ListKind,
    epic::list::EpicFilter,
    issue::list::{IssueFilter, IterationChoice},
    item::list::{Choice, Direction, Fields, Order, Search, Sorting},
};

use super::record::{BoardRecord, ListRecord};
use crate::review::{
    issue_filter::IssueListArguments,
    item_filter::{labels, named},
};

/// Names of arguments here, and of those of other lists of issues.
const NAMES: &[(&str, &str)] = &[
    ("assigneeUsername", "assigneeUsernames"),
    ("assigneeWildcardId", "assigneeId"),
    ("epicWildcardId", "epicId"),
    ("weightWildcardId", "weight"),
];

/// Arguments of which one alone can be given.
const EXCLUSIVE: &[[&str; 2]] = &[["epicId", "epicWildcardId"], ["weight", "weightWildcardId"]];

/// Which issues of a list are wanted, as far as it is known without the database.
#[derive(Clone)]
pub(super) struct ListedIssues {
    wanted: IssueListArguments,
    iteration: Option<String>,
    not_iteration: Option<String>,
    pub(super) sorting: Sorting,
}

impl ListedIssues {
    /// # Errors
    /// For arguments that exclude each other, and values that are none.
    pub(super) fn read(one: &ListRecord, given: Option<&Arguments>) -> Result<Self, Failure> {
        let none = Arguments::default();
        let given = given.or(one.wanted.as_ref()).unwrap_or(&none);
        let clash = EXCLUSIVE.iter().find(|names| names.iter().all(|name| given.has(name)));
        if let Some(names) = clash {
            return Err(Failure::message(format!("Incompatible arguments: {}.", names.join(", "))));
        }
        let not = given.object("not");
        let sorting = match one.list.kind {
            ListKind::Closed => {
                Sorting { by: Order::Optional("closed_at"), direction: Direction::Descending }
            }
            ListKind::Backlog
            | ListKind::Label
            | ListKind::Assignee
            | ListKind::Milestone
            | ListKind::Iteration => {
                let by = Order::Column("relative_position");
                Sorting { by, direction: Direction::Ascending }
            }
        };
        Ok(Self {
            wanted: IssueListArguments::read(&given.renamed(NAMES))?,
            iteration: given.maybe_text("iterationTitle"),
            not_iteration: not.and_then(|not| not.maybe_text("iterationTitle")),
            sorting,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted.nothing
    }

    /// What was said of the issues, whichever list they are in.
    pub(super) fn common(&self, tx: &mut Tx<'_>, actor: Actor) -> Kept<IssueFilter> {
        self.wanted.filter(tx, actor)
    }

    /// That, with what the list itself asks.
    pub(super) fn of_list(&self, common: IssueFilter, one: &ListRecord) -> IssueFilter {
        let mut filter = common;
        let (condition, state) = one.board.whole.condition(&one.list);
        (filter.board, filter.state) = (Some(condition), Some(state));
        let titled = |title: &String| Choice::These(IterationChoice::Titled(title.clone()));
        if let Some(title) = &self.iteration {
            filter.iteration = Some(titled(title));
        }
        if let Some(title) = &self.not_iteration {
            filter.not.iteration = Some(titled(title));
        }
        filter
    }
}

/// Which epics of a list are wanted, as far as it is known without the database.
#[derive(Clone)]
pub(super) struct ListedEpics {
    filter: EpicFilter,
    author: Option<String>,
    not_author: Option<String>,
}

impl ListedEpics {
    pub(super) fn read(one: &ListRecord, given: Option<&Arguments>) -> Self {
        let none = Arguments::default();
        let given = given.or(one.wanted.as_ref()).unwrap_or(&none);
        let not = given.object("not");
        let search = given.maybe_text("search");
        let filter = EpicFilter {
            confidential: given.maybe_bool("confidential"),
            labels: labels(given, "labelName"),
            not_labels: not.as_ref().map(|not| not.texts("labelName")).unwrap_or_default(),
            search: search.map(|text| Search { text, fields: Fields::Both }),
            ..EpicFilter::default()
        };
        let author = given.maybe_text("authorUsername");
        let not_author = not.and_then(|not| not.maybe_text("authorUsername"));
        Self { filter, author, not_author }
    }

    /// The people whom the filter names.
    pub(super) fn people(&self, tx: &mut Tx<'_>) -> Kept<NamedAuthors> {
        let not_author = match &self.not_author {
            Some(name) => person(tx, name)?,
            None => None,
        };
        Ok(NamedAuthors { author: named(tx, self.author.as_ref())?, not_author })
    }

    /// The filter, with what the list itself asks.
    pub(super) fn of_list(
        &self,
        people: NamedAuthors,
        board: &BoardRecord,
        one: &ListRecord,
    ) -> EpicFilter {
        let (condition, state) = board.whole.condition(&one.list);
        let mut filter = self.filter.clone();
        filter.around.descendants = true;
        (filter.author, filter.not_author) = (people.author, people.not_author);
        (filter.board, filter.state) = (Some(condition), Some(state));
        filter
    }
}

/// People by whom epics are, or are not.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedAuthors {
    author: Option<UserId>,
    not_author: Option<UserId>,
}
