//! Nodes of an installation: what administrators say of them, what they report, and what passes between them.

mod nodes;
mod refusal;
mod requests;
mod retrieval;
mod status;
mod status_request;

use ::geo::{Identity, Role};
use kernel::{Error, Result};

use crate::Forge;

pub use nodes::{create, primary_url, remove, repair, update};
pub use refusal::WriteRefusal;
pub use requests::{authenticate, authenticate_even_paused};
pub use retrieval::{Pieces, Retrieval, pipeline_refs, retrieve};
pub(crate) use status::{CountStatus, count_status};
pub use status::{has_same_storage, list_statuses, report, status_of};
pub use status_request::own_report;

const NOT_PRIMARY: &str = "this node is not the primary";

/// Refuses what secondaries ask of the primary alone.
fn ensure_primary(forge: &Forge) -> Result<()> {
    match forge.node_identity.is_primary() {
        true => Ok(()),
        false => Err(Error::forbidden().because(NOT_PRIMARY)),
    }
}

/// As which node a server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeoSettings {
    /// The name of the node; without one, its external URL.
    pub node: Option<String>,
    pub role: Role,
}

impl Default for GeoSettings {
    fn default() -> Self {
        Self { node: None, role: Role::Primary }
    }
}

impl GeoSettings {
    pub(crate) fn identity(&self, external_url: &str) -> Identity {
        let name = self.node.as_deref().map(str::trim).filter(|name| !name.is_empty());
        Identity { name: name.unwrap_or(external_url).to_owned(), role: self.role }
    }
}
