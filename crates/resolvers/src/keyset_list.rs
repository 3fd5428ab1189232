//! Connections over lists that go on at the values of an element: a row that is made or deleted between two pages makes
//! the second neither repeat nor miss another.

use graphql::{Connection, Cursor, Failure, Page, Value};
use kernel::{
    Result,
    page::{COUNT_LIMIT, PageRequest, Total},
};

use super::numbered_list::NumberedList;

/// The names and values by which a list is ordered, as cursors hold them.
pub type CursorValues = std::collections::BTreeMap<String, String>;

/// Between which elements a list is read.
#[derive(Clone, Debug)]
pub struct Bounds<K> {
    pub after: Option<K>,
    pub before: Option<K>,
}

impl<K> Bounds<K> {
    /// Those of a page. `read` makes sense of the values in a cursor.
    ///
    /// # Errors
    /// For cursors of other lists.
    pub fn of(
        page: &Page,
        read: impl Fn(&CursorValues) -> Option<K>,
    ) -> std::result::Result<Self, Failure> {
        let known = |values: Option<CursorValues>| {
            values.map(|values| read(&values).ok_or_else(Failure::cursor)).transpose()
        };
        Ok(Self { after: known(page.after()?)?, before: known(page.before()?)? })
    }

    /// The whole list.
    pub fn none() -> Self {
        Self { after: None, before: None }
    }

    fn are_set(&self) -> bool {
        self.after.is_some() || self.before.is_some()
    }
}

/// The id in a cursor of a list that ids alone order; none in a cursor of another order.
pub fn id_of(values: &CursorValues) -> Option<i64> {
    id_beside(None, values)
}

/// The id in a cursor that may tell the value of a column beside it; none where the cursor tells of another column. Which
/// way its list ran no cursor says: it is a place in the list from either end.
pub fn id_beside(column: Option<&str>, values: &CursorValues) -> Option<i64> {
    let is_known = |name: &String| name == "id" || column.is_some_and(|column| name == column);
    if !values.keys().all(is_known) {
        return None;
    }
    values.get("id")?.parse().ok()
}

/// The cursor of an element of a list that ids alone order.
pub fn id_cursor(id: i64) -> Cursor {
    Cursor::keys([("id", id.to_string())])
}

/// The part of a list that a connection shows.
#[derive(Debug)]
pub struct KeysetList<T> {
    rows: NumberedList<T>,
    /// How long the whole list is, where that was wanted.
    total: Option<Total>,
}

/// The requested part of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListPart<'b, K> {
    pub bounds: &'b Bounds<K>,
    /// Whether the list runs from its end to its beginning.
    pub reversed: bool,
    pub page: PageRequest,
}

/// Whether a list can also be read from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadDirection {
    BothWays,
    /// What a page has that is counted from the end is found by the length of the list.
    Forwards,
}

impl<T> KeysetList<T> {
    /// Reads the rows of a page, and the length of the whole list where it `counts`. `list` reads a part of the list.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn read<K>(
        page: &Page,
        bounds: &Bounds<K>,
        (counts, reading): (bool, ReadDirection),
        mut list: impl FnMut(ListPart<'_, K>) -> Result<kernel::page::Page<T>>,
    ) -> Result<Self> {
        let reversed = page.backwards() && reading == ReadDirection::BothWays;
        let rows = if reversed {
            NumberedList::read(&page.reversed(), |page| list(ListPart { bounds, reversed, page }))?
                .reversed()
        } else {
            NumberedList::read(&page.without_cursors(), |page| {
                list(ListPart { bounds, reversed, page })
            })?
        };
        let total = match (counts, bounds.are_set()) {
            (false, _) => None,
            (true, false) => Some(rows.total()),
            (true, true) => {
                let page = PageRequest { page: 1, per_page: 1 };
                let whole = ListPart { bounds: &Bounds::none(), reversed: false, page };
                Some(list(whole)?.total)
            }
        };
        Ok(Self { rows, total })
    }

    pub fn rows(&self) -> &[T] {
        self.rows.rows()
    }

    /// Turns the rows all together, for what is loaded once a page.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn try_map_all<U, E>(
        self,
        f: impl FnOnce(Vec<T>) -> std::result::Result<Vec<U>, E>,
    ) -> std::result::Result<KeysetList<U>, E> {
        Ok(KeysetList { rows: self.rows.try_map_all(f)?, total: self.total })
    }

    /// Loads what belongs to each row, all at the same time.
    ///
    /// # Errors
    /// Those of `load`.
    pub async fn load_each<U, E, F: Future<Output = std::result::Result<U, E>>>(
        self,
        load: impl FnMut(T) -> F,
    ) -> std::result::Result<KeysetList<U>, E> {
        Ok(KeysetList { rows: self.rows.load_each(load).await?, total: self.total })
    }

    /// The connection. `cursor` names the place of a row in the list.
    pub fn connection(
        self,
        page: &Page,
        cursor: impl Fn(&T) -> Cursor,
        mut value: impl FnMut(T) -> Value,
    ) -> Connection {
        let Self { rows, total } = self;
        let (rows, more) = rows.into_rows(page.backwards());
        let rows = rows.into_iter().map(|row| (cursor(&row), value(row))).collect();
        let connection = Connection::new(page, rows, more);
        match total {
            Some(Total::Counted(total)) => connection.count(total),
            // Beyond the limit of counts it is known only that there are more.
            Some(Total::Uncounted { .. }) => connection.count(COUNT_LIMIT + 1),
            None => connection,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CursorValues, id_beside, id_of};

    fn values(names: &[&str]) -> CursorValues {
        names.iter().map(|name| ((*name).to_owned(), "3".to_owned())).collect()
    }

    #[test]
    fn a_cursor_that_tells_of_another_column_is_of_another_order() {
        assert_eq!(id_of(&values(&["id"])), Some(3));
        assert_eq!(id_of(&values(&["id", "weight"])), None);
        assert_eq!(id_of(&values(&[])), None);
        let by_weight = |names: &[&str]| id_beside(Some("weight"), &values(names));
        assert_eq!(by_weight(&["id", "weight"]), Some(3));
        assert_eq!(by_weight(&["id"]), Some(3), "rows may have no weight");
        assert_eq!(by_weight(&["id", "due_date"]), None);
        assert_eq!(by_weight(&["due_date", "id", "weight"]), None);
    }
}
