//! A group and the groups above it.

use db::Tx;
use kernel::{Result, ids::NamespaceId};

use super::{model::Kind, store::NamespaceStore};

/// The group and those above it, nearest first; nothing for a personal namespace. No tree is deep.
pub fn group_chain(tx: &mut Tx<'_>, namespace: NamespaceId) -> Result<Vec<NamespaceId>> {
    let (mut chain, mut next) = (Vec::new(), Some(namespace));
    while let Some(id) = next {
        let found = tx.namespace(id)?;
        if found.kind == Kind::User {
            return Ok(Vec::new());
        }
        chain.push(id);
        next = found.parent_id;
    }
    Ok(chain)
}
