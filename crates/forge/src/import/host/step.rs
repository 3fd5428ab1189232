//! The context of an import step: source, cursor and pages.

use admin::import::{Import, NewFailure, Origin, Relation};
use kernel::ids::ProjectId;
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use crate::{
    Forge,
    import::{
        SourceClient, SourceError,
        batch::Step,
        client::SourcePage,
        json::{list, name},
        people::People,
    },
};

/// Entries of a page.
pub(super) const PAGE: usize = 100;

/// The context of an import step.
pub(crate) struct HostStep<'a> {
    pub(crate) forge: &'a Forge,
    pub(crate) import: &'a Import,
    pub(crate) origin: &'a Origin,
    pub(crate) client: &'a SourceClient,
    pub(crate) people: &'a People<'a>,
}

impl HostStep<'_> {
    pub(super) fn project(&self) -> ProjectId {
        self.import.project_id
    }

    /// The page at which the stage goes on.
    pub(super) fn page(&self) -> i64 {
        self.import.cursor.as_deref().and_then(|text| text.parse().ok()).unwrap_or(1)
    }

    /// A page of a list below the repository's address, and the cursor behind it.
    pub(super) async fn list(&self, path: &str) -> Result<(Vec<Value>, Step), SourceError> {
        let (page, sign) = (self.page(), if path.contains('?') { '&' } else { '?' });
        let url = format!("{}/{path}{sign}per_page={PAGE}&page={page}", self.origin.api);
        let found = self.client.get(url).await?;
        let items = items(&found)?.to_vec();
        let next = has_next(&found, items.len()).then(|| (page + 1).to_string());
        Ok((items, Step { next, pause: found.pause, ..Step::default() }))
    }

    /// As [`list`](Self::list), for lists that not every token may read: what cannot be read is told, and left out.
    pub(super) async fn open_list(
        &self,
        path: &str,
        relation: Relation,
    ) -> Result<(Vec<Value>, Step), SourceError> {
        match self.list(path).await {
            Err(SourceError::Missing | SourceError::Denied(_)) => {
                let failure = failure(relation, path, "the token may not read this");
                Ok((Vec::new(), Step { failures: vec![failure], ..Step::default() }))
            }
            found => found,
        }
    }

    /// The name of a thread, the same each time it is asked for.
    pub(super) fn discussion(&self, kind: &str, id: i64) -> String {
        let place = format!("{}/{}/{kind}/{id}", self.import.correlation_id, self.project());
        hex::encode(Sha1::digest(place.as_bytes()))
    }
}

pub(super) const NO_NUMBER: &str = "it has no number";

pub(super) fn failure(relation: Relation, name: &str, message: &str) -> NewFailure {
    NewFailure { relation, source_name: name.to_owned(), message: message.to_owned() }
}

/// Whether another page follows one of so many entries. A page may be shorter than it was asked for where the source says
/// that another one follows.
pub(super) fn has_next(page: &SourcePage, count: usize) -> bool {
    page.has_next.unwrap_or(count >= PAGE) && count > 0
}

pub(super) fn items(page: &SourcePage) -> Result<&[Value], SourceError> {
    page.body
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| SourceError::malformed("the list of the source"))
}

pub(super) fn names(labels: &Value) -> Vec<String> {
    list(labels).iter().filter_map(|label| name(label, "name")).collect()
}
