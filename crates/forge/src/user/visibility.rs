//! Who may know of people at all.

use db::Tx;
use kernel::{Actor, Result, Visibility};
use org::settings::store::SettingsStore as _;

/// Whether the caller may list users: anonymous callers may not if public visibility is restricted.
pub fn sees_people(tx: &mut Tx<'_>, actor: Actor) -> Result<bool> {
    if actor.id.is_some() {
        return Ok(true);
    }
    Ok(!tx.settings()?.restricted_visibility_levels.contains(&Visibility::Public))
}
