//! A role with its end.

use kernel::{AccessLevel, Ts};

/// Later than any end that can be asked for: the role holds until somebody changes it.
pub(crate) const FOREVER: Ts = Ts(799_999_999_999_999_999);

/// A role, and when it ends or becomes a lesser one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    pub level: AccessLevel,
    pub until: Ts,
}
