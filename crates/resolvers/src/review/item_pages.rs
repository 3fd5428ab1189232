//! Pages of issues and merge requests.

use graphql::{Connection, Cursor, Failure, Page, Value};
use kernel::{Result as Kept, page::PageRequest};
use review::item::list::{HeadPart, ListEdge, ListPosition, Order, Side, Sorting};

use crate::{
    keyset_list::{Bounds, CursorValues, KeysetList, ListPart, ReadDirection, id_beside},
    numbered_list::NumberedList,
};

/// The part of a list of items that a connection shows.
#[derive(Clone, Debug)]
pub struct ItemPage {
    page: Page,
    sorting: Sorting,
    /// In orders in which a list can go on at the values of an item.
    bounds: Option<Bounds<ListPosition>>,
}

/// The requested part of an item list.
#[derive(Clone, Debug)]
pub struct ItemPart {
    pub bounds: Vec<ListEdge>,
    pub sorting: Sorting,
    pub page: PageRequest,
}

/// The items that a page is made of, with one more where the list goes on.
#[derive(Clone, Debug)]
pub struct ItemHead {
    pub edges: Vec<ListEdge>,
    pub part: HeadPart,
}

/// Items of a page.
#[derive(Debug)]
pub enum ItemRows<T> {
    Keyset(KeysetList<T>),
    Numbered(NumberedList<T>),
}

impl ItemPage {
    /// # Errors
    /// For cursors of other lists.
    pub fn new(page: Page, sorting: Sorting) -> Result<Self, Failure> {
        let bounds = match sorting.has_positions() {
            true => Some(Bounds::of(&page, |values| position_of(sorting, values))?),
            false => None,
        };
        Ok(Self { page, sorting, bounds })
    }

    /// Reads the items.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn read<T>(
        &self,
        mut list: impl FnMut(ItemPart) -> Kept<kernel::page::Page<T>>,
    ) -> Kept<ItemRows<T>> {
        let Self { page, sorting, bounds } = self;
        let Some(bounds) = bounds else {
            let read = |page| list(ItemPart { bounds: Vec::new(), sorting: *sorting, page });
            return NumberedList::read(page, read).map(ItemRows::Numbered);
        };
        // Of equals the newest comes first in either direction, so that only ids can be read from their end.
        let reading = match sorting.by {
            Order::Id => ReadDirection::BothWays,
            _ => ReadDirection::Forwards,
        };
        let read = |part: ListPart<'_, ListPosition>| list(part_of(*sorting, &part));
        KeysetList::read(page, bounds, (false, reading), read).map(ItemRows::Keyset)
    }

    /// Where the page begins and ends and which items tell what it holds and whether the list goes on; nothing in orders that
    /// have no positions.
    pub fn head(&self) -> Option<ItemHead> {
        let bounds = self.bounds.as_ref()?;
        let most = i64::try_from(self.page.limit()).ok()?.saturating_add(1);
        let part = HeadPart { sorting: self.sorting, most, from_end: self.page.backwards() };
        Some(ItemHead { edges: edges(self.sorting, bounds), part })
    }

    /// The connection of the items that [`head`](Self::head) asks for.
    pub fn connection_of_head<T>(
        &self,
        rows: Vec<T>,
        position: impl Fn(&T, Sorting) -> Option<ListPosition>,
        mut value: impl FnMut(T) -> Value,
    ) -> Connection {
        let more = rows.len() > self.page.limit();
        let rows = rows.into_iter().map(|row| {
            let cursor = cursor_of(self.sorting, position(&row, self.sorting));
            (cursor, value(row))
        });
        Connection::new(&self.page, rows.collect(), more)
    }

    /// The connection. `position` tells the place of a row in this order.
    pub fn connection<T>(
        &self,
        rows: ItemRows<T>,
        position: impl Fn(&T, Sorting) -> Option<ListPosition>,
        value: impl FnMut(T) -> Value,
    ) -> Connection {
        let cursor = |row: &T| cursor_of(self.sorting, position(row, self.sorting));
        match rows {
            ItemRows::Keyset(rows) => rows.connection(&self.page, cursor, value),
            ItemRows::Numbered(rows) => rows.connection(&self.page, value),
        }
    }
}

impl<T> ItemRows<T> {
    /// Turns the rows all together, for what is loaded once a page.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn try_map_all<U, E>(
        self,
        f: impl FnOnce(Vec<T>) -> Result<Vec<U>, E>,
    ) -> Result<ItemRows<U>, E> {
        Ok(match self {
            Self::Keyset(rows) => ItemRows::Keyset(rows.try_map_all(f)?),
            Self::Numbered(rows) => ItemRows::Numbered(rows.try_map_all(f)?),
        })
    }
}

fn edges(sorting: Sorting, bounds: &Bounds<ListPosition>) -> Vec<ListEdge> {
    let bound = |side, position: Option<ListPosition>| {
        position.map(|position| ListEdge { sorting, side, position })
    };
    let edges = [bound(Side::Behind, bounds.after), bound(Side::InFront, bounds.before)];
    edges.into_iter().flatten().collect()
}

fn part_of(sorting: Sorting, part: &ListPart<'_, ListPosition>) -> ItemPart {
    let direction = match part.reversed {
        true => sorting.direction.reversed(),
        false => sorting.direction,
    };
    ItemPart {
        bounds: edges(sorting, part.bounds),
        sorting: Sorting { direction, ..sorting },
        page: part.page,
    }
}

fn position_of(sorting: Sorting, values: &CursorValues) -> Option<ListPosition> {
    let column = sorting.column();
    let id = id_beside(column, values)?;
    let value = match column {
        None => None,
        Some(column) => values.get(column).map(|value| value.parse()).transpose().ok()?,
    };
    let must_have = matches!(sorting.by, Order::Column(_));
    (value.is_some() || !must_have).then_some(ListPosition { value, id })
}

fn cursor_of(sorting: Sorting, position: Option<ListPosition>) -> Cursor {
    let mut values = CursorValues::new();
    if let Some(ListPosition { value, id }) = position {
        values.insert("id".to_owned(), id.to_string());
        if let (Some(column), Some(value)) = (sorting.column(), value) {
            values.insert(column.to_owned(), value.to_string());
        }
    }
    Cursor::of(&values)
}
