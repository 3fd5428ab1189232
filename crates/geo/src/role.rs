//! The role of this server among the nodes of its installation.

use crate::node::GeoNode;

kernel::text_enum! {
    /// Whether a server takes writes, or copies one that does.
    pub enum Role { Primary = "primary", Secondary = "secondary" }
}

/// The node that a server runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As the node with this name, if there is one.
    pub name: String,
    pub role: Role,
}

impl Identity {
    pub fn is_primary(&self) -> bool {
        self.role == Role::Primary
    }

    /// Whether the server runs as this node.
    pub fn is(&self, node: &GeoNode) -> bool {
        self.has_name(&node.name)
    }

    // A name that is an address may be written with or without the slash at its end; no two names differ in case alone.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        let plain = |name: &str| name.trim_end_matches('/').to_lowercase();
        plain(name) == plain(&self.name)
    }
}
