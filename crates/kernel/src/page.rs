//! Pages of lists: what is asked for, and what comes back.

/// The most that a page holds.
pub const MAX_PER_PAGE: i64 = 100;
/// Totals are counted up to here; beyond it a list says only that there is more.
pub const COUNT_LIMIT: i64 = 10_000;

/// Which page of a list is wanted. Made by the gateway from `page` and `per_page`, already within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub page: i64,
    pub per_page: i64,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, per_page: 20 }
    }
}

impl PageRequest {
    pub fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// One row more than the page holds, so that a list that is not counted knows whether there is a next page.
    pub fn probe(&self) -> i64 {
        self.per_page + 1
    }

    /// The page of a list that is already in memory.
    pub fn slice<T>(&self, all: Vec<T>) -> Page<T> {
        let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let skip = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let take = usize::try_from(self.per_page).unwrap_or(usize::MAX);
        Page {
            items: all.into_iter().skip(skip).take(take).collect(),
            total: Total::Counted(total),
        }
    }

    /// The page made of rows read with [`probe`](Self::probe).
    pub fn uncounted<T>(&self, mut rows: Vec<T>) -> Page<T> {
        let per_page = usize::try_from(self.per_page).unwrap_or(usize::MAX);
        let more = rows.len() > per_page;
        rows.truncate(per_page);
        Page { items: rows, total: Total::Uncounted { more } }
    }
}

/// The length of a list, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// Counted, at most to one more than [`COUNT_LIMIT`].
    Counted(i64),
    /// Never counted; only whether another page follows.
    Uncounted { more: bool },
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub total: Total,
}

impl<T> Page<T> {
    /// The same page, without saying how long the whole list is.
    #[must_use]
    pub fn without_total(self, page: PageRequest) -> Self {
        let more = match self.total {
            Total::Uncounted { more } => more,
            Total::Counted(total) => page.page.saturating_mul(page.per_page) < total,
        };
        Self { total: Total::Uncounted { more }, ..self }
    }

    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), total: self.total }
    }

    /// Turns the items all together, for what is loaded once a page.
    pub fn try_map_all<U, E>(
        self,
        f: impl FnOnce(Vec<T>) -> Result<Vec<U>, E>,
    ) -> Result<Page<U>, E> {
        Ok(Page { items: f(self.items)?, total: self.total })
    }
}
