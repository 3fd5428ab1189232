//! An epic.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{NamespaceId, UserId},
};

use crate::{
    Home,
    issue::IssueState,
    item::{
        Item, ItemId, ItemKind,
        list::{ListPosition, Order, Sorting},
    },
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::epics, check_for_backend(db::AnyBackend))]
pub struct Epic {
    pub id: i64,
    /// Counts within its group.
    pub iid: i64,
    pub namespace_id: NamespaceId,
    pub title: String,
    pub description: Option<String>,
    /// Epics are opened and closed as issues are.
    pub state: IssueState,
    pub author_id: UserId,
    /// For members of the group from Reporter on.
    pub confidential: bool,
    /// `#1068bf`
    pub color: String,
    /// Days, as the moment at which they begin. Those that are not fixed are those of the milestones of the issues.
    pub start_date_fixed: Option<Ts>,
    pub start_date_is_fixed: bool,
    pub due_date_fixed: Option<Ts>,
    pub due_date_is_fixed: bool,
    /// The epic that it is inside of, and where among others.
    pub parent_id: Option<i64>,
    pub parent_position: Option<i64>,
    pub upvotes: i64,
    pub downvotes: i64,
    pub closed_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Epic {
    /// The epic as what hangs on it names it.
    pub fn item(&self) -> ItemId {
        ItemId { kind: ItemKind::Epic, id: self.id }
    }

    /// Where it stands in a list of this order; nothing in orders that have no positions.
    pub fn list_position(&self, sorting: Sorting) -> Option<ListPosition> {
        let value = match sorting.by {
            Order::Id => None,
            Order::Column("created_at") => Some(self.created_at.0),
            Order::Column("updated_at") => Some(self.updated_at.0),
            _ => return None,
        };
        Some(ListPosition { value, id: self.id })
    }

    /// The epic as notes, to-dos and references see it.
    pub fn whole(&self) -> Item {
        Item {
            id: self.item(),
            home: Home::Group(self.namespace_id),
            iid: self.iid,
            author: self.author_id,
            title: self.title.clone(),
            description: self.description.clone(),
            state: self.state.to_string(),
            confidential: self.confidential,
            locked: false,
            updated_at: self.updated_at,
        }
    }
}

/// From which day to which the milestones of an epic's issues last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateRange {
    pub start: Option<Ts>,
    pub due: Option<Ts>,
}
