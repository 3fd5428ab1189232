//! Files are noted as they are stored and removed, whoever does it.

use db::{Database, checksum::files};
use futures_util::future::BoxFuture;
use kernel::Result;
use objects::{Ledger, StoredContent};

use super::GOOD_FOR;

/// Notes the files of one kind.
pub(crate) struct FileLedger {
    db: Database,
    kind: &'static str,
}

impl FileLedger {
    pub(crate) fn new(db: &Database, kind: &'static str) -> Self {
        Self { db: db.clone(), kind }
    }
}

impl Ledger for FileLedger {
    fn stored<'a>(
        &'a self,
        name: &'a str,
        content: &'a StoredContent,
    ) -> BoxFuture<'a, Result<()>> {
        let (kind, name, sha256) = (self.kind, name.to_owned(), content.sha256.clone());
        Box::pin(self.db.write(move |tx| {
            let check_at = tx.now.plus(GOOD_FOR);
            files::note(tx, kind, &name, &sha256, check_at)
        }))
    }

    fn removed<'a>(&'a self, names: &'a [String]) -> BoxFuture<'a, Result<()>> {
        let (kind, names) = (self.kind, names.to_vec());
        Box::pin(self.db.write(move |tx| files::forget(tx, kind, &names)))
    }
}
