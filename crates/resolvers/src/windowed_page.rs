//! Connections over lists of domains that are read from or up to the place of one of their rows.

use db::keyset::{ListWindow, RowPosition, SortValue};
use graphql::{Connection, Cursor, Failure, Page, Value};
use kernel::{
    Result as KernelResult,
    page::{PageRequest, Total},
};

use super::keyset_list::{Bounds, CursorValues, KeysetList, ReadDirection, id_beside};

/// The sort column of a list before its id, as cursors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorOrder {
    /// Ids alone.
    Id,
    /// A number, which a row may lack.
    Number(&'static str),
    Text(&'static str),
}

/// The part of a list that a connection shows.
#[derive(Clone, Debug)]
pub struct WindowedPage {
    page: Page,
    order: CursorOrder,
    bounds: Bounds<RowPosition>,
    reading: ReadDirection,
}

impl WindowedPage {
    /// # Errors
    /// For cursors of other lists, and of other orders.
    pub fn new(page: Page, order: CursorOrder) -> Result<Self, Failure> {
        let bounds = Bounds::of(&page, |values| position_of(order, values))?;
        Ok(Self { page, order, bounds, reading: ReadDirection::BothWays })
    }

    /// Of a list that is read from its beginning alone.
    #[must_use]
    pub fn forwards(self) -> Self {
        Self { reading: ReadDirection::Forwards, ..self }
    }

    /// Reads the rows, and the length of the whole list where it `counts`.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn read<T>(
        &self,
        counts: bool,
        mut list: impl FnMut(&ListWindow, PageRequest) -> KernelResult<kernel::page::Page<T>>,
    ) -> KernelResult<KeysetList<T>> {
        KeysetList::read(&self.page, &self.bounds, (counts, self.reading), |part| {
            let window = ListWindow {
                after: part.bounds.after.clone(),
                before: part.bounds.before.clone(),
                reversed: part.reversed,
            };
            list(&window, part.page)
        })
    }

    /// The rows of the first page of a list, which were read already, with one more where the list goes on.
    ///
    /// # Errors
    /// None.
    pub fn of_first<T>(&self, rows: kernel::page::Page<T>) -> KernelResult<KeysetList<T>> {
        let mut rows = Some(rows);
        let empty = || kernel::page::Page { items: Vec::new(), total: Total::Counted(0) };
        self.read(true, |_, _| Ok(rows.take().unwrap_or_else(empty)))
    }

    /// The connection. `position` tells the place of a row in the list.
    pub fn connection<T>(
        &self,
        rows: KeysetList<T>,
        position: impl Fn(&T) -> RowPosition,
        value: impl FnMut(T) -> Value,
    ) -> Connection {
        rows.connection(&self.page, |row| cursor_of(self.order, position(row)), value)
    }

    /// The ids of a page of a list that is there as a whole, in the order of its ids.
    ///
    /// # Errors
    /// None.
    pub fn read_ascending(&self, ids: &[i64]) -> KernelResult<KeysetList<i64>> {
        self.read_whole(ids, |earlier, later| earlier < later)
    }

    /// As [`read_ascending`](Self::read_ascending), of a list in the opposite order.
    ///
    /// # Errors
    /// None.
    pub fn read_descending(&self, ids: &[i64]) -> KernelResult<KeysetList<i64>> {
        self.read_whole(ids, |earlier, later| earlier > later)
    }

    fn read_whole(
        &self,
        ids: &[i64],
        precedes: fn(i64, i64) -> bool,
    ) -> KernelResult<KeysetList<i64>> {
        self.read(true, |window, part| {
            let follows = |id: i64| window.after.as_ref().is_none_or(|edge| precedes(edge.id, id));
            let leads = |id: i64| window.before.as_ref().is_none_or(|edge| precedes(id, edge.id));
            let own = ids.iter().copied().filter(|id| follows(*id) && leads(*id));
            let mut own: Vec<i64> = own.collect();
            if window.reversed {
                own.reverse();
            }
            Ok(part.slice(own))
        })
    }
}

fn position_of(order: CursorOrder, values: &CursorValues) -> Option<RowPosition> {
    let (value, column) = match order {
        CursorOrder::Id => (None, None),
        CursorOrder::Number(name) => {
            let text = values.get(name)?;
            // A row without a value has an empty text in its cursor.
            let number = match text.is_empty() {
                true => None,
                false => Some(SortValue::Number(text.parse().ok()?)),
            };
            (number, Some(name))
        }
        CursorOrder::Text(name) => (Some(SortValue::Text(values.get(name)?.clone())), Some(name)),
    };
    Some(RowPosition { value, id: id_beside(column, values)? })
}

fn cursor_of(order: CursorOrder, position: RowPosition) -> Cursor {
    let mut values = CursorValues::new();
    values.insert("id".to_owned(), position.id.to_string());
    let text = match position.value {
        None => String::new(),
        Some(SortValue::Number(number)) => number.to_string(),
        Some(SortValue::Text(text)) => text,
    };
    if let CursorOrder::Number(name) | CursorOrder::Text(name) = order {
        values.insert(name.to_owned(), text);
    }
    Cursor::of(&values)
}

#[cfg(test)]
mod tests {
    use db::keyset::RowPosition;

    use super::{CursorOrder, CursorValues, cursor_of, position_of};

    fn values(pairs: &[(&str, &str)]) -> CursorValues {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_cursor_is_read_by_the_order_that_wrote_it_alone() {
        let due = CursorOrder::Number("due_date");
        let at = values(&[("due_date", "7"), ("id", "3")]);
        assert_eq!(position_of(due, &at), Some(RowPosition::of_number(7, 3)));
        assert_eq!(position_of(CursorOrder::Id, &at), None);
        assert_eq!(position_of(CursorOrder::Number("updated_at"), &at), None);
        let without = values(&[("due_date", ""), ("id", "3")]);
        assert_eq!(position_of(due, &without), Some(RowPosition::of_id(3)));
        let wrong = values(&[("due_date", "soon"), ("id", "3")]);
        assert_eq!(position_of(due, &wrong), None);
    }

    #[test]
    fn ids_alone_are_told_by_cursors_of_lists_by_ids() {
        let cursor = cursor_of(CursorOrder::Id, RowPosition::of_number(7, 3));
        assert_eq!(cursor, cursor_of(CursorOrder::Id, RowPosition::of_id(3)));
    }
}
