//! Queries of issue and merge request lists: their scope, the filters that all items share, and their sorting.

use db::Tx;
use kernel::{
    Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{Choice, Conditions, ListEdge, MilestoneChoice, Search, conditions::table_of};
use crate::{item::ItemKind, ports::ReadableProjects};

/// The projects or groups whose items a list covers.
#[derive(Clone, Debug)]
pub enum ListScope {
    Project(ProjectId),
    Projects(ReadableProjects),
    /// For items that belong to groups, such as epics.
    Groups(Vec<NamespaceId>),
}

/// Filters that issues and merge requests share. They act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct Common {
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    pub search: Option<Search>,
    /// All of these must hold, as the caller's own share and a person who was named do.
    pub authors: Vec<UserId>,
    pub assignees: Vec<Choice<Vec<UserId>>>,
    pub iids: Option<Vec<i64>>,
    pub labels: Option<Choice<Vec<String>>>,
    pub milestone: Option<Choice<MilestoneChoice>>,
    /// What the caller reacted to, by the name of an emoji.
    pub reaction: Option<Choice<String>>,
    /// One of each that is not empty must hold.
    pub any: AnyCommon,
    pub not: NotCommon,
    /// The part of the list that is read.
    pub bounds: Vec<ListEdge>,
}

/// Alternatives: an item has one of these authors, one of these assignees, and one of these labels.
#[derive(Clone, Debug, Default)]
pub struct AnyCommon {
    pub authors: Vec<UserId>,
    pub assignees: Vec<UserId>,
    pub labels: Vec<String>,
}

/// Which items are left out.
#[derive(Clone, Debug, Default)]
pub struct NotCommon {
    pub labels: Vec<String>,
    pub milestone: Option<Choice<MilestoneChoice>>,
    pub author: Option<UserId>,
    pub assignee: Option<Choice<Vec<UserId>>>,
}

impl Common {
    /// Adds the conditions of the filters that are set.
    pub(crate) fn ask(&self, tx: &Tx<'_>, all: &mut Conditions, reader: Option<UserId>) {
        let today = midnight(tx.now);
        all.between("created_at", self.created_after, self.created_before);
        all.between("updated_at", self.updated_after, self.updated_before);
        if let Some(search) = &self.search {
            all.containing(tx, search);
        }
        self.authors.iter().for_each(|author| all.written_by(*author));
        self.assignees.iter().for_each(|choice| all.assigned(choice));
        if let Some(iids) = &self.iids {
            all.numbered(iids);
        }
        if let Some(labels) = &self.labels {
            all.labelled(labels);
        }
        if let Some(milestone) = &self.milestone {
            all.milestone(milestone, today);
        }
        if let Some(reaction) = &self.reaction {
            all.reacted(reader, reaction);
        }
        self.any.ask(all);
        self.not.ask(all, today);
        self.bounds.iter().filter_map(ListEdge::sql).for_each(|bound| all.plain(bound));
    }
}

impl AnyCommon {
    fn ask(&self, all: &mut Conditions) {
        all.written_by_one_of(&self.authors);
        all.assigned_to_one_of(&self.assignees);
        all.labelled_with_one_of(&self.labels);
    }
}

impl NotCommon {
    fn ask(&self, all: &mut Conditions, today: Ts) {
        all.not_labelled(&self.labels);
        if let Some(milestone) = &self.milestone {
            all.not_milestone(milestone, today);
        }
        if let Some(author) = self.author {
            all.plain(format!("i.author_id <> {author}"));
        }
        if let Some(choice) = &self.assignee {
            all.not_assigned(choice);
        }
    }
}

/// The moment at which a day began.
pub(crate) fn midnight(now: Ts) -> Ts {
    Ts::from_date(now.date())
}

/// The sort order of items; ties are ordered by id, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they were made.
    Id,
    /// A column of theirs that always has a value.
    Column(&'static str),
    /// As people read their titles.
    Title,
    /// A column of theirs; those without a value come last, whichever way the list runs.
    Optional(&'static str),
    /// A column of theirs with one of these words, the lowest first; those with another or none come last.
    Ranked(&'static str, &'static [&'static str]),
    MilestoneDue,
    /// The most urgent of their labels.
    LabelPriority,
    /// The last day of their milestone, then the most urgent of their labels.
    Priority,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Ascending => "ASC",
            Self::Descending => "DESC",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    pub by: Order,
    pub direction: Direction,
}

const MILESTONE: &str = " LEFT JOIN milestones om ON om.id = i.milestone_id";

impl Sorting {
    /// Whether a list in this order can go on at the values of an item.
    pub fn has_positions(&self) -> bool {
        matches!(self.by, Order::Id | Order::Column(_) | Order::Optional(_))
    }

    /// The column that orders the list before ids do.
    pub fn column(&self) -> Option<&'static str> {
        match self.by {
            Order::Column(column) | Order::Optional(column) => Some(column),
            _ => None,
        }
    }

    /// What to join for it.
    pub(super) fn join(&self) -> &'static str {
        match self.by {
            Order::MilestoneDue | Order::Priority => MILESTONE,
            _ => "",
        }
    }

    /// What stands after `ORDER BY`.
    pub(super) fn sql(&self, tx: &Tx<'_>, kind: ItemKind) -> String {
        let direction = self.direction.sql();
        let last = |what: &str| format!("({what}) {direction} NULLS LAST");
        match self.by {
            Order::Id => format!("i.id {direction}"),
            Order::Column(column) => format!("i.{column} {direction}, i.id DESC"),
            Order::Title => format!("{}, i.id DESC", tx.reading_order("i.title", direction)),
            Order::Optional(column) => format!("{}, i.id DESC", last(&format!("i.{column}"))),
            Order::Ranked(column, words) => {
                format!("{}, i.id DESC", last(&rank(column, words)))
            }
            Order::MilestoneDue => format!("{}, i.id DESC", last("om.due_date")),
            Order::LabelPriority => format!("{}, i.id DESC", last(&most_urgent(kind))),
            Order::Priority => {
                format!("{}, {}, i.id DESC", last("om.due_date"), last(&most_urgent(kind)))
            }
        }
    }

    /// What stands after `ORDER BY` where a list is read from its end; nothing in orders that have no positions.
    pub(super) fn reversed_sql(&self) -> Option<String> {
        let direction = self.direction.reversed().sql();
        match self.by {
            Order::Id => Some(format!("i.id {direction}")),
            Order::Column(column) => Some(format!("i.{column} {direction}, i.id ASC")),
            Order::Optional(column) => {
                Some(format!("(i.{column}) {direction} NULLS FIRST, i.id ASC"))
            }
            _ => None,
        }
    }

    /// What stands after rows `found` that have ids alone.
    pub(super) fn of_found(&self, tx: &Tx<'_>, kind: ItemKind) -> String {
        if self.by == Order::Id {
            return format!(" ORDER BY found.id {}", self.direction.sql());
        }
        let (table, join) = (table_of(kind), self.join());
        format!(" JOIN {table} i ON i.id = found.id{join} ORDER BY {}", self.sql(tx, kind))
    }
}

/// The place of a column's word among these.
fn rank(column: &str, words: &[&str]) -> String {
    let cases =
        words.iter().enumerate().map(|(place, word)| format!(" WHEN '{word}' THEN {place}"));
    format!("CASE i.{column}{} END", cases.collect::<String>())
}

/// How urgent the most urgent label of an item is in its project.
fn most_urgent(kind: ItemKind) -> String {
    format!(
        "SELECT MIN(lp.priority) FROM item_labels x \
         JOIN label_priorities lp ON lp.label_id = x.label_id AND lp.project_id = i.project_id \
         WHERE x.item_kind = '{kind}' AND x.item_id = i.id"
    )
}
