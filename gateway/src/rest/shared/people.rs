//! People that a path names.

use db::Tx;
use forge::user::visibility::sees_people;
use kernel::{Actor, Error, Result, ids::UserId};
use org::{
    access::IdOrPath,
    user::{State, User, store::UserStore},
};

/// Somebody by id or user name.
pub(crate) fn named(tx: &mut Tx<'_>, text: &str) -> Result<User> {
    let found = match IdOrPath::parse(text) {
        IdOrPath::Id(id) => tx.find_user(UserId(id))?,
        IdOrPath::Path(name) => tx.find_user_named(&name)?,
    };
    found.ok_or(Error::not_found("User"))
}

/// As [`named`]; whom the caller may not know of is not there.
pub(crate) fn seen(tx: &mut Tx<'_>, actor: Actor, text: &str) -> Result<User> {
    if !sees_people(tx, actor)? {
        return Err(Error::not_found("User"));
    }
    named(tx, text)
}

/// Whether the caller may see what somebody does: everybody may, unless the person keeps it to themselves or cannot be
/// met.
pub(crate) fn reads_profile(actor: Actor, user: &User) -> bool {
    let open = user.state == State::Active && user.confirmed_at.is_some() && !user.private_profile;
    open || actor.admin || actor.id == Some(user.id)
}
