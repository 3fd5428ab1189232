//! In which order lists show items.

use db::Tx;

use super::conditions::table_of;
use crate::item::ItemKind;

/// What items are ordered by; of equals, the newest comes first.
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
