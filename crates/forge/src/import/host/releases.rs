//! Releases of the source. There is no place for them here: they are counted, and reported as what did not come along.

use admin::import::Relation;

use super::step::{HostStep, failure};
use crate::import::{SourceError, batch::Step};

impl HostStep<'_> {
    /// Counts a page of releases. Each page with some is one failure, so that many leave room for others.
    pub(super) async fn releases(&self) -> Result<Step, SourceError> {
        let (items, mut step) = self.open_list("releases", Relation::Release).await?;
        if !items.is_empty() {
            let text = format!(
                "{} were left out: this instance has no releases; their tags came along",
                items.len()
            );
            step.failures.push(failure(Relation::Release, "releases", &text));
        }
        Ok(Step { fetched: Some((Relation::Release, items.len())), ..step })
    }
}
