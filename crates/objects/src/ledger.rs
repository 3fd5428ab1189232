//! The record of stored objects.

use futures_util::future::BoxFuture;
use kernel::Result;

use crate::StoredContent;

/// Notes every content that is stored, with its checksum, and every one that is removed.
pub trait Ledger: Send + Sync {
    /// A content lies there. What cannot be noted counts as not stored.
    fn stored<'a>(&'a self, name: &'a str, content: &'a StoredContent)
    -> BoxFuture<'a, Result<()>>;
    /// Contents are about to be removed.
    fn removed<'a>(&'a self, names: &'a [String]) -> BoxFuture<'a, Result<()>>;
}
