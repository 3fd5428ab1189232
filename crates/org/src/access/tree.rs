//! A top-level group with all below it, as parts of statements.

use db::Tx;
use kernel::{Result, ids::NamespaceId};

use crate::listing::{Bind, Row, rows};

/// A top-level group with all below it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) top: NamespaceId,
    /// Paths of everything below begin with this, and sort before the next one.
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Tree {
    /// The tree of a group by its path in small letters.
    pub(crate) fn of_top(top: NamespaceId, key: &str) -> Self {
        // `0` is what follows `/`.
        Self { top, from: format!("{key}/"), to: format!("{key}0") }
    }

    /// `groups` and `inside`, the ids of all groups and projects here, as parts of a statement whose first two values are
    /// those of [`load`](Self::load).
    pub(crate) fn parts(&self) -> String {
        format!(
            "groups(id) AS (SELECT CAST({} AS BIGINT) UNION ALL SELECT n.id FROM namespaces n \
             WHERE n.path_key > $1 AND n.path_key < $2 AND n.kind = 'group' AND n.deleted_at IS NULL), \
             inside(id) AS (SELECT p.id FROM projects p \
             WHERE p.path_key > $1 AND p.path_key < $2 AND p.deleted_at IS NULL)",
            self.top
        )
    }

    /// Runs a statement that begins with [`parts`](Self::parts).
    pub(crate) fn load<T: Row>(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<T>> {
        rows(tx, text, &[Bind::Word(self.from.clone()), Bind::Word(self.to.clone())])
    }
}
