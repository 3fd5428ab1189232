//! Where a part of a list begins or ends: at the values of one of its items, so that a list in which rows come and go is
//! read without repeating or missing any.

use db::listing::value;

use super::query::{Direction, Order, Sorting};

/// The values of an item by which a list is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// Of the column that orders the list; nothing where the item has no value there, or the id alone orders it.
    pub value: Option<i64>,
    pub id: i64,
}

/// On which side of a position a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What comes later in the list.
    Behind,
    /// What comes earlier.
    InFront,
}

/// The part of a list on one side of a position.
#[derive(Clone, Copy, Debug)]
pub struct ListEdge {
    pub sorting: Sorting,
    pub side: Side,
    pub position: ListPosition,
}

impl ListEdge {
    /// The condition on a row `i`, as SQL; none in orders whose values are not known.
    pub(crate) fn sql(&self) -> Option<String> {
        let Self { sorting, side, position } = *self;
        let is_behind = side == Side::Behind;
        let smaller = (sorting.direction == Direction::Descending) == is_behind;
        let beyond = if smaller { '<' } else { '>' };
        // Of equals the newest comes first.
        let tie = if is_behind { '<' } else { '>' };
        let id = value(position.id);
        match (sorting.by, position.value) {
            (Order::Id, _) => Some(format!("i.id {beyond} {id}")),
            (Order::Column(column), Some(at)) => {
                let at = value(at);
                Some(format!(
                    "i.{column} {beyond}= {at} AND (i.{column} {beyond} {at} OR i.id {tie} {id})"
                ))
            }
            (Order::Optional(column), Some(at)) => {
                let at = value(at);
                // Those without a value come last.
                let last =
                    if is_behind { format!(" OR i.{column} IS NULL") } else { String::new() };
                Some(format!(
                    "(i.{column} {beyond} {at} OR (i.{column} = {at} AND i.id {tie} {id}){last})"
                ))
            }
            (Order::Optional(column), None) => Some(match side {
                Side::Behind => format!("(i.{column} IS NULL AND i.id < {id})"),
                Side::InFront => format!("(i.{column} IS NOT NULL OR i.id > {id})"),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ListEdge, ListPosition, Side};
    use crate::item::list::{Direction, Order, Sorting};

    fn sql(by: Order, direction: Direction, side: Side, value: Option<i64>) -> String {
        let position = ListPosition { value, id: 7 };
        let bound = ListEdge { sorting: Sorting { by, direction }, side, position };
        bound.sql().unwrap_or_default()
    }

    #[test]
    fn a_list_goes_on_behind_the_values_of_an_item() {
        use Direction::{Ascending, Descending};
        assert_eq!(sql(Order::Id, Descending, Side::Behind, None), "i.id < $(7)");
        assert_eq!(sql(Order::Id, Ascending, Side::InFront, None), "i.id < $(7)");
        assert_eq!(
            sql(Order::Column("upvotes"), Ascending, Side::Behind, Some(3)),
            "i.upvotes >= $(3) AND (i.upvotes > $(3) OR i.id < $(7))"
        );
        assert_eq!(
            sql(Order::Optional("weight"), Descending, Side::InFront, Some(3)),
            "(i.weight > $(3) OR (i.weight = $(3) AND i.id > $(7)))"
        );
        assert_eq!(
            sql(Order::Optional("weight"), Descending, Side::Behind, None),
            "(i.weight IS NULL AND i.id < $(7))"
        );
        assert_eq!(sql(Order::Title, Ascending, Side::Behind, None), "");
    }
}
