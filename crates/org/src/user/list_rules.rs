//! Permissions for listing users, by filter.

use db::Tx;
use kernel::{Actor, Error, Result, Visibility};

use super::list::{Order, UserFilter};
use crate::settings::store::SettingsStore as _;

impl UserFilter {
    /// Drops the filters and orders that only administrators have; for others they do nothing.
    #[must_use]
    pub fn allowed_for(self, actor: Actor) -> Self {
        if actor.admin {
            return Self { any_email: true, ..self };
        }
        Self {
            any_email: false,
            without_projects: false,
            admins: false,
            two_factor: None,
            identity: None,
            saml_provider: None,
            created_after: None,
            created_before: None,
            order: Order::Id,
            descending: true,
            ..self
        }
    }
}

/// Anonymous callers may only look up a user name, and nothing where public visibility is restricted.
///
/// # Errors
/// `Forbidden` for them otherwise, and `Unauthenticated` or `Forbidden` for a search by identity without being an administrator.
pub fn ensure_may_list(tx: &mut Tx<'_>, actor: Actor, filter: &UserFilter) -> Result<()> {
    let is_anonymous = actor.id.is_none();
    if is_anonymous {
        let restricted = tx.settings()?.restricted_visibility_levels;
        if filter.username.is_none() || restricted.contains(&Visibility::Public) {
            return Err(Error::forbidden().because("Not authorized to access /api/v4/users"));
        }
    }
    match (filter.identity.is_some() && !actor.admin, is_anonymous) {
        (false, _) => Ok(()),
        (true, true) => Err(Error::unauthenticated()),
        (true, false) => Err(Error::forbidden()),
    }
}
