//! What is kept beside an item, as part of the statement that reads the item: whether somebody hears of it, whose it is,
//! and whether it has labels. Each further statement would be a way to another process and back on PostgreSQL.

use kernel::{Actor, ids::UserId};

/// As these come from the database.
pub(crate) type Row = (Option<bool>, bool, Option<String>, bool);

/// Data kept beside an item's row.
#[derive(Clone, Debug)]
pub struct ItemDetails {
    /// Whether the reader hears of it: as they said, else because they take part in it.
    pub subscribed: bool,
    /// In the order of their ids.
    pub assignees: Vec<UserId>,
    pub has_labels: bool,
}

/// The columns of [`ItemDetails`] about the rows of a table, for one reader.
macro_rules! columns {
    ($module:ident, $table:literal, $kind:literal) => {
        pub(crate) mod $module {
            use db::{Subselect, subselect};
            use diesel::sql_types::{Bool, Nullable, Text};
            use kernel::{Actor, ids::UserId};

            subselect! {
                pub(crate) struct SubscriptionChoice -> Nullable<Bool> = concat!(
                    "SELECT subscribed FROM item_subscriptions WHERE item_kind = '", $kind, "' AND item_id = ", $table,
                    ".id AND user_id = $"
                );
            }
            subselect! {
                pub(crate) struct Participation -> Bool = concat!(
                    "SELECT EXISTS (SELECT 1 FROM item_assignees WHERE item_kind = '", $kind, "' AND item_id = ", $table,
                    ".id AND user_id = $) OR EXISTS (SELECT 1 FROM item_participants WHERE item_kind = '", $kind,
                    "' AND item_id = ", $table, ".id AND user_id = $) OR EXISTS (SELECT 1 FROM notes WHERE item_kind = '",
                    $kind, "' AND item_id = ", $table, ".id AND author_id = $ AND NOT is_system)"
                );
            }
            subselect! {
                pub(crate) struct Assignees -> Nullable<Text> = concat!(
                    "SELECT string_agg(CAST(user_id AS TEXT), ',') FROM item_assignees WHERE item_kind = '", $kind,
                    "' AND item_id = ", $table, ".id"
                );
            }
            subselect! {
                pub(crate) struct HasLabels -> Bool = concat!(
                    "SELECT EXISTS (SELECT 1 FROM item_labels WHERE item_kind = '", $kind, "' AND item_id = ", $table, ".id)"
                );
            }

            pub(crate) type Columns = (
                Subselect<SubscriptionChoice>,
                Subselect<Participation>,
                Subselect<Assignees>,
                Subselect<HasLabels>,
            );

            pub(crate) fn columns(reader: Actor) -> Columns {
                /// Stands for readers without an id: nobody has this one.
                const NOBODY: UserId = UserId(0);
                let reader = reader.id.unwrap_or(NOBODY).0;
                (
                    Subselect::about(reader),
                    Subselect::about(reader),
                    Subselect::new(),
                    Subselect::new(),
                )
            }
        }
    };
}

columns!(of_issues, "issues", "Issue");
columns!(of_merge_requests, "merge_requests", "MergeRequest");

impl ItemDetails {
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
