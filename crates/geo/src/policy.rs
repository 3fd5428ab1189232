//! Abilities of nodes.

kernel::abilities! { in Instance, signed in;
    /// Change a node: administrators, and the node itself with its signature; which of them it is, the call says.
    ChangeGeoNode if |_who| true,
}

kernel::abilities! { in Instance, open;
    /// Call as a node: whoever shows a node's signature, which the use case checks.
    CallAsGeoNode if |_who| true,
}
