//! Pages of lists, with edges, cursors and what is known of the whole list.

use std::{borrow::Cow, fmt, sync::Arc};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};

use crate::{
    failure::Failure,
    page::{Cursor, Page},
    value::Value,
};

/// A count that is made when somebody wants it.
type LaterCount = Shared<BoxFuture<'static, Result<Value, Failure>>>;

/// A page of a list.
#[derive(Clone)]
pub struct Connection {
    pub(crate) rows: Arc<Vec<(Cursor, Value)>>,
    pub(crate) has_next: bool,
    pub(crate) has_previous: bool,
    pub(crate) fields: Vec<(Cow<'static, str>, Value)>,
    later: Vec<(&'static str, LaterCount)>,
    pub(crate) failure: Option<Failure>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements of a list", self.rows.len())
    }
}

impl Connection {
    /// Of a list that is paged by the values of its elements. `more` tells whether the list goes on in the direction
    /// that was asked for. Rows stand in the list's order, also where the page was counted from its end.
    pub fn new(page: &Page, mut rows: Vec<(Cursor, Value)>, more: bool) -> Self {
        if rows.len() > page.limit() {
            let surplus = rows.len() - page.limit();
            match page.backwards() {
                true => drop(rows.drain(..surplus)),
                false => rows.truncate(page.limit()),
            }
        }
        Self {
            rows: Arc::new(rows),
            has_next: page.has_before() || (more && !page.backwards()),
            has_previous: page.has_after() || (more && page.backwards()),
            fields: Vec::new(),
            later: Vec::new(),
            failure: None,
        }
    }

    /// Of a list that is there as a whole.
    pub fn of_list(page: &Page, whole: Vec<Value>) -> Self {
        let total = u64::try_from(whole.len()).unwrap_or(u64::MAX);
        let offset = page.offset_within(total);
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let rows = whole.into_iter().skip(skipped).take(page.limit() + 1).collect();
        Self::from_offset(page, rows, offset, Some(total)).count(total)
    }

    /// Of a list that is paged by the numbers of its elements: `rows` were asked for from [`Page::offset`], or
    /// [`Page::offset_within`] where the total is known, one more than [`Page::limit`].
    pub fn of_slice(page: &Page, rows: Vec<Value>, total: Option<u64>) -> Self {
        let offset = total.map_or_else(|| page.offset(), |total| page.offset_within(total));
        let connection = Self::from_offset(page, rows, offset, total);
        match total {
            Some(total) => connection.count(total),
            None => connection,
        }
    }

    fn from_offset(page: &Page, mut rows: Vec<Value>, offset: u64, total: Option<u64>) -> Self {
        let fetched = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let end = total.unwrap_or_else(|| offset.saturating_add(fetched));
        // What stands at the cursor `before`, and behind it, is of no page that ends there.
        if let Some(before) = page.number_before() {
            let room = before.saturating_sub(1).saturating_sub(offset);
            rows.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        }
        rows.truncate(page.limit());
        let held = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let has_next = page.has_before() || (!page.backwards() && offset + held < end);
        let has_previous = page.has_after() || (page.backwards() && offset > 0);
        let rows = (offset + 1..).map(Cursor::at).zip(rows).collect();
        Self {
            rows: Arc::new(rows),
            has_next,
            has_previous,
            fields: Vec::new(),
            later: Vec::new(),
            failure: page.has_keys().then(Failure::cursor),
        }
    }

    /// Of a list without elements.
    pub fn empty() -> Self {
        Self::of_list(&Page::beginning(), Vec::new())
    }

    /// How many elements the whole list has.
    #[must_use]
    pub fn count(self, count: impl Into<Value>) -> Self {
        self.field("count", count)
    }

    /// As [`Connection::count`], counted when it is asked for.
    #[must_use]
    pub fn count_later<F>(self, count: F) -> Self
    where
        F: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.field_later("count", count)
    }

    /// A further field of the connection.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.retain(|(known, _)| known != name);
        self.fields.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// A further field of the connection, made when it is asked for.
    #[must_use]
    pub fn field_later<F>(mut self, name: &'static str, value: F) -> Self
    where
        F: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.later.push((name, value.boxed().shared()));
        self
    }

    /// Whether the page is all of the list.
    pub(crate) fn is_whole(&self) -> bool {
        !self.has_next && !self.has_previous
    }

    pub(crate) fn later(&self, name: &str) -> Option<LaterCount> {
        self.later.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }
}
