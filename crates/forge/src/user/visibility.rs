//! Permission to see users.

use db::Tx;
use kernel::{Actor, Result, Visibility};
use org::{
    settings::store::SettingsStore as _,
    user::{State, User},
};

/// Whether the caller may list users: anonymous callers may not if public visibility is restricted.
pub fn sees_people(tx: &mut Tx<'_>, actor: Actor) -> Result<bool> {
    if actor.id.is_some() {
        return Ok(true);
    }
    Ok(!tx.settings()?.restricted_visibility_levels.contains(&Visibility::Public))
}

/// Whether the caller may see what somebody does: everybody may, unless the person keeps it to themselves or cannot be
/// met.
pub fn reads_profile(actor: Actor, user: &User) -> bool {
    let open = user.state == State::Active && user.confirmed_at.is_some() && !user.private_profile;
    open || actor.admin || actor.id == Some(user.id)
}
