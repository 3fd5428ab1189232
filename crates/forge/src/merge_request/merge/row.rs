//! The row of a merge request, and what it says.

use kernel::{Result, ids::MergeRequestId};
use repo::git::Oid;
use review::merge_request::{MergeRequest, MergeRequestStore as _};

use crate::Forge;

/// The commit that a column names; nothing where it names none.
pub(super) fn parsed(sha: Option<&str>) -> Option<Oid> {
    sha.and_then(|sha| sha.parse().ok())
}

/// The merge request as it is now.
pub(super) async fn current(forge: &Forge, id: MergeRequestId) -> Result<MergeRequest> {
    forge.db.read(move |tx| tx.merge_request(id)).await
}
