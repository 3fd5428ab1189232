//! The cursor of an import stage that requests items one by one.

use kernel::TextEnum as _;
use review::item::{ItemKind, import::iids_after};
use serde_json::Value;

use super::step::{HostStep, PAGE, has_next, items};
use crate::import::{SourceError, batch::Step, client::SourcePage};

/// The cursor of a stage that requests items one by one: kind, number and page of the item. At a later page it stands on
/// its item, at the first one behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemCursor {
    kind: ItemKind,
    number: i64,
    page: i64,
}

impl ItemCursor {
    /// The cursor behind a page of an item.
    pub(super) fn behind(kind: ItemKind, number: i64, page: i64, has_next: bool) -> Self {
        Self { kind, number, page: if has_next { page + 1 } else { 1 } }
    }

    pub(super) fn parse(text: Option<&str>) -> Self {
        let first = Self { kind: ItemKind::Issue, number: 0, page: 1 };
        let Some(text) = text else { return first };
        // Of reviews, earlier versions kept the next number alone.
        if let Ok(next) = text.parse::<i64>() {
            return Self { kind: ItemKind::MergeRequest, number: next - 1, page: 1 };
        }
        let mut parts = text.split(':');
        let mut read = || {
            Some(Self {
                kind: ItemKind::find(parts.next()?)?,
                number: parts.next()?.parse().ok()?,
                page: parts.next()?.parse().ok()?,
            })
        };
        read().unwrap_or(first)
    }

    pub(super) fn text(self) -> String {
        format!("{}:{}:{}", self.kind, self.number, self.page)
    }

    /// The number behind which the items are that are left.
    pub(super) fn after(self) -> i64 {
        if self.page > 1 { self.number - 1 } else { self.number }
    }

    /// The page at which an item goes on.
    pub(super) fn page_of(self, number: i64) -> i64 {
        if self.number == number { self.page } else { 1 }
    }
}

impl HostStep<'_> {
    /// A page of what one item has, and where to go on. The next item follows once an item has no more pages. `paths` are
    /// lists of the item of a number, of which the source may not know the first ones.
    pub(super) async fn of_item(
        &self,
        kinds: &[ItemKind],
        paths: impl Fn(i64) -> Vec<String>,
    ) -> Result<Option<(i64, Vec<Value>, Step)>, SourceError> {
        let mut cursor = ItemCursor::parse(self.import.cursor.as_deref());
        if !kinds.contains(&cursor.kind) {
            cursor.kind = ItemKind::MergeRequest;
        }
        let project = self.project();
        if cursor.page == 1 {
            let (kind, after) = (cursor.kind, cursor.number);
            let next = self.forge.db.read(move |tx| iids_after(tx, project, kind, after, 1));
            match next.await?.first() {
                Some(number) => cursor.number = *number,
                None if kind == ItemKind::Issue && kinds.contains(&ItemKind::MergeRequest) => {
                    let next = ItemCursor { kind: ItemKind::MergeRequest, number: 0, page: 1 };
                    let step = Step { next: Some(next.text()), ..Step::default() };
                    return Ok(Some((0, Vec::new(), step)));
                }
                None => return Ok(None),
            }
        }
        let ItemCursor { kind, number, page } = cursor;
        let found = self.first_of(paths(number), page).await?;
        let (found, has_next, pause) = match &found {
            Some(found) => {
                let all = items(found)?;
                (all.to_vec(), has_next(found, all.len()), found.pause)
            }
            None => (Vec::new(), false, None),
        };
        let next = ItemCursor::behind(kind, number, page, has_next);
        let step = Step { next: Some(next.text()), pause, ..Step::default() };
        Ok(Some((number, found, step)))
    }

    /// A page of the first of these lists that the source has; `None` where it has none.
    async fn first_of(
        &self,
        paths: Vec<String>,
        page: i64,
    ) -> Result<Option<SourcePage>, SourceError> {
        let last = paths.len().saturating_sub(1);
        for (place, path) in paths.into_iter().enumerate() {
            let url = format!("{}/{path}?per_page={PAGE}&page={page}", self.origin.api);
            match self.client.get(url).await {
                Err(SourceError::Missing) => {}
                // Older installations refuse a list that they give only to who asks for a preview.
                Err(SourceError::Unusable(_)) if place < last => {}
                found => return found.map(Some),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use review::item::ItemKind;

    use super::ItemCursor;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = ItemCursor { kind: ItemKind::MergeRequest, number: 7, page: 3 };
        assert_eq!(ItemCursor::parse(Some(&cursor.text())), cursor);
        assert_eq!(ItemCursor::parse(Some("odd")), ItemCursor::parse(None));
        assert_eq!(ItemCursor::parse(Some("8")), ItemCursor { page: 1, ..cursor });
    }

    #[test]
    fn an_item_with_another_page_is_gone_on_with() {
        let within = ItemCursor::behind(ItemKind::MergeRequest, 7, 2, true);
        assert_eq!((within.after(), within.page_of(7), within.page_of(8)), (6, 3, 1));
        let behind = ItemCursor::behind(ItemKind::MergeRequest, 7, 2, false);
        assert_eq!((behind.after(), behind.page_of(8)), (7, 1));
    }
}
