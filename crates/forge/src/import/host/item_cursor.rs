//! The cursor of an import stage that requests items one by one.

use kernel::TextEnum as _;
use review::item::{ItemKind, import::iids_after};
use serde_json::Value;

use super::step::{HostStep, PAGE, items};
use crate::import::{SourceError, batch::Step};

/// The cursor of a stage that requests items one by one: kind, number and page of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemCursor {
    kind: ItemKind,
    pub(super) number: i64,
    page: i64,
}

impl ItemCursor {
    fn parse(text: Option<&str>) -> Self {
        let first = Self { kind: ItemKind::Issue, number: 0, page: 1 };
        let Some(text) = text else { return first };
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

    fn text(self) -> String {
        format!("{}:{}:{}", self.kind, self.number, self.page)
    }
}

impl HostStep<'_> {
    /// A page of what one item has, and where to go on. The next item follows once an item has no more pages.
    pub(super) async fn of_item(
        &self,
        kinds: &[ItemKind],
        path: impl Fn(ItemCursor) -> String,
    ) -> Result<Option<(i64, Vec<Value>, Step)>, SourceError> {
        let mut cursor = ItemCursor::parse(self.import.cursor.as_deref());
        if !kinds.contains(&cursor.kind) {
            cursor.kind = ItemKind::MergeRequest;
        }
        let project = self.project();
        // A cursor at a later page stands on its item; one at the first page stands before it.
        let after = cursor.number;
        if cursor.page == 1 {
            let kind = cursor.kind;
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
        let (path, page) = (path(cursor), cursor.page);
        let url = format!("{}/{path}?per_page={PAGE}&page={page}", self.origin.api);
        let (found, pause) = match self.client.get(url).await {
            Err(SourceError::Missing) => (Vec::new(), None),
            Ok(found) => (items(&found)?.to_vec(), found.pause),
            Err(failure) => return Err(failure),
        };
        let next = match found.len() >= PAGE {
            true => ItemCursor { page: page + 1, ..cursor },
            false => ItemCursor { page: 1, ..cursor },
        };
        let step = Step { next: Some(next.text()), pause, ..Step::default() };
        Ok(Some((cursor.number, found, step)))
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
    }
}
