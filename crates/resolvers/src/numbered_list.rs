//! Connections over lists that domains page by numbers.

use futures_util::future::try_join_all;
use graphql::{Connection, Page, Value};
use kernel::{
    Result,
    page::{COUNT_LIMIT, PageRequest, Total},
};

/// The part of a list that a connection shows.
#[derive(Debug)]
pub struct NumberedList<T> {
    rows: Vec<T>,
    total: Total,
    /// Whether the list goes on behind the rows.
    more: bool,
}

impl<T> NumberedList<T> {
    /// Reads the rows of a page. `list` is asked for one page, or for two where the rows lie across a boundary, and for one
    /// more where a list is read from its end.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn read(
        page: &Page,
        mut list: impl FnMut(PageRequest) -> Result<kernel::page::Page<T>>,
    ) -> Result<Self> {
        Self::read_by(page, &mut list)
    }

    /// It does not know the type of `list`, so that it is compiled once for each type of rows.
    fn read_by(
        page: &Page,
        list: &mut dyn FnMut(PageRequest) -> Result<kernel::page::Page<T>>,
    ) -> Result<Self> {
        let size = i64::try_from(page.limit()).unwrap_or(i64::MAX).max(1);
        let offset = if page.backwards() {
            let first = list(PageRequest { page: 1, per_page: size })?;
            match first.total {
                Total::Counted(total) => page.offset_within(u64::try_from(total).unwrap_or(0)),
                Total::Uncounted { .. } => page.offset(),
            }
        } else {
            page.offset()
        };
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let (number, skipped) = (offset / size + 1, offset % size);
        let found = list(PageRequest { page: number, per_page: size })?;
        let (mut rows, mut total) = (found.items, found.total);
        let mut end = number.saturating_mul(size);
        if skipped > 0 {
            let next = list(PageRequest { page: number + 1, per_page: size })?;
            rows.extend(next.items);
            total = next.total;
            end = end.saturating_add(size);
        }
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let surplus = rows.len() > skipped.saturating_add(page.limit());
        let rows = rows.into_iter().skip(skipped).take(page.limit()).collect();
        let more = match total {
            Total::Uncounted { more } => more || surplus,
            Total::Counted(total) => surplus || end < total,
        };
        Ok(Self { rows, total, more })
    }

    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// What is known of the whole list's length.
    pub fn total(&self) -> Total {
        self.total
    }

    /// The rows of a list that was read from its end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.rows.reverse();
        self
    }

    /// The rows, and whether the list goes on in the direction in which it was read.
    pub fn into_rows(self, backwards: bool) -> (Vec<T>, bool) {
        let held = i64::try_from(self.rows.len()).unwrap_or(i64::MAX);
        let more = match self.total {
            Total::Counted(total) if backwards => total > held,
            _ => self.more,
        };
        (self.rows, more)
    }

    /// A list without elements.
    pub fn empty() -> Self {
        Self { rows: Vec::new(), total: Total::Counted(0), more: false }
    }

    pub fn map<U>(self, f: impl FnMut(T) -> U) -> NumberedList<U> {
        let Self { rows, total, more } = self;
        NumberedList { rows: rows.into_iter().map(f).collect(), total, more }
    }

    /// Turns the rows all together, for what is loaded once a page.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn try_map_all<U, E>(
        self,
        f: impl FnOnce(Vec<T>) -> Result<Vec<U>, E>,
    ) -> Result<NumberedList<U>, E> {
        let Self { rows, total, more } = self;
        Ok(NumberedList { rows: f(rows)?, total, more })
    }

    /// Loads what belongs to each row, all at the same time.
    ///
    /// # Errors
    /// Those of `load`.
    pub async fn load_each<U, E, F: Future<Output = Result<U, E>>>(
        self,
        load: impl FnMut(T) -> F,
    ) -> Result<NumberedList<U>, E> {
        let Self { rows, total, more } = self;
        let rows = try_join_all(rows.into_iter().map(load)).await?;
        Ok(NumberedList { rows, total, more })
    }

    /// The connection, with the count of the whole list where it is known.
    pub fn connection(self, page: &Page, value: impl FnMut(T) -> Value) -> Connection {
        let mut rows: Vec<Value> = self.rows.into_iter().map(value).collect();
        let total = match self.total {
            Total::Counted(total) => u64::try_from(total).ok(),
            Total::Uncounted { .. } => None,
        };
        // Beyond the limit of counts the total says only that there are more.
        let is_exact = matches!(self.total, Total::Counted(total) if total <= COUNT_LIMIT);
        if is_exact || page.backwards() {
            return Connection::of_slice(page, rows, total);
        }
        if self.more {
            // One row more than the page holds says that the list goes on.
            rows.push(Value::Null);
        }
        let beyond = u64::try_from(COUNT_LIMIT + 1).unwrap_or(u64::MAX);
        Connection::of_slice(page, rows, None).count(total.unwrap_or(beyond))
    }
}
