//! Requests that nodes sign.

use db::Tx;
use kernel::{Error, Result};
use secrets::Vault;

use crate::{
    credential::{Credential, Statement},
    node::{GeoNode, NodeStore as _},
};

/// The proof that a node signed a request.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    node: GeoNode,
    statement: Statement,
}

impl SignedRequest {
    pub fn node(&self) -> &GeoNode {
        &self.node
    }

    pub fn ensure_scope(&self, scope: &str) -> Result<()> {
        match self.statement.has_scope(scope) {
            true => Ok(()),
            false => Err(Error::unauthenticated()),
        }
    }

    /// Refuses a request whose signature is for something else.
    pub fn ensure_says(&self, name: &str, value: &str) -> Result<()> {
        match self.statement.says(name, value) {
            true => Ok(()),
            false => Err(Error::unauthenticated()),
        }
    }

    /// What it says under this name, if it says something there.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.statement.text(name)
    }
}

/// The request of a node that is in use, by what it shows.
///
/// # Errors
/// Unknown and disabled nodes, wrong signatures, and clocks that are too far apart.
pub fn prove(tx: &mut Tx<'_>, vault: &Vault, shown: &str) -> Result<SignedRequest> {
    let request = prove_even_paused(tx, vault, shown)?;
    if request.node.enabled { Ok(request) } else { Err(Error::unauthenticated()) }
}

/// As [`prove`], also of a node that is disabled.
///
/// # Errors
/// As those of [`prove`].
pub fn prove_even_paused(tx: &mut Tx<'_>, vault: &Vault, shown: &str) -> Result<SignedRequest> {
    let credential = Credential::parse(shown).ok_or_else(Error::unauthenticated)?;
    let node = tx.geo_node_with_key(credential.access_key)?.ok_or_else(Error::unauthenticated)?;
    let statement = credential.prove(&node.secret_key(vault)?, tx.now)?;
    Ok(SignedRequest { node, statement })
}
