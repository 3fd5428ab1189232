//! What is kept beside an item, as part of the statement that reads the item: whether somebody hears of it, whose it is,
//! and whether it has labels. Each further statement would be a way to another process and back on PostgreSQL.

use db::Subselect;
use diesel::sql_types::{Bool, Nullable, Text};
use kernel::{Actor, ids::UserId};

/// The columns of [`Beside`] about the rows of a table, for one reader.
pub(crate) type Columns =
    (Subselect<Nullable<Bool>>, Subselect<Bool>, Subselect<Nullable<Text>>, Subselect<Bool>);
/// As these come from the database.
pub(crate) type Row = (Option<bool>, bool, Option<String>, bool);

/// What is kept beside an item.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Whether the reader hears of it: as they said, else because they take part in it.
    pub subscribed: bool,
    /// In the order of their ids.
    pub assignees: Vec<UserId>,
    pub has_labels: bool,
}

macro_rules! columns {
    ($table:literal, $kind:literal, $reader:expr) => {{
        /// Stands for readers without an id: nobody has this one.
        const NOBODY: UserId = UserId(0);
        let reader = $reader.id.unwrap_or(NOBODY).0;
        (
            Subselect::about(
                concat!(
                    "SELECT subscribed FROM item_subscriptions WHERE item_kind = '", $kind, "' AND item_id = ", $table,
                    ".id AND user_id = $"
                ),
                reader,
            ),
            Subselect::about(
                concat!(
                    "SELECT EXISTS (SELECT 1 FROM item_assignees WHERE item_kind = '", $kind, "' AND item_id = ", $table,
                    ".id AND user_id = $) OR EXISTS (SELECT 1 FROM item_participants WHERE item_kind = '", $kind,
                    "' AND item_id = ", $table, ".id AND user_id = $) OR EXISTS (SELECT 1 FROM notes WHERE item_kind = '",
                    $kind, "' AND item_id = ", $table, ".id AND author_id = $ AND NOT is_system)"
                ),
                reader,
            ),
            Subselect::new(concat!(
                "SELECT string_agg(CAST(user_id AS TEXT), ',') FROM item_assignees WHERE item_kind = '", $kind,
                "' AND item_id = ", $table, ".id"
            )),
            Subselect::new(concat!(
                "SELECT EXISTS (SELECT 1 FROM item_labels WHERE item_kind = '", $kind, "' AND item_id = ", $table, ".id)"
            )),
        )
    }};
}

pub(crate) fn of_issues(reader: Actor) -> Columns {
    columns!("issues", "Issue", reader)
}

pub(crate) fn of_merge_requests(reader: Actor) -> Columns {
    columns!("merge_requests", "MergeRequest", reader)
}

impl Beside {
    /// `author` wrote the item.
    pub(crate) fn new(
        (said, takes_part, assignees, has_labels): Row,
        author: UserId,
        reader: Actor,
    ) -> Self {
        let own = reader.id == Some(author);
        let mut assignees: Vec<UserId> = assignees
            .iter()
            .flat_map(|all| all.split(','))
            .filter_map(|id| id.parse().ok().map(UserId))
            .collect();
        assignees.sort_unstable();
        Self { subscribed: said.unwrap_or(own || takes_part), assignees, has_labels }
    }
}
