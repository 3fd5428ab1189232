//! People that a path names.

use db::Tx;
use forge::user::visibility::sees_people;
use kernel::{Actor, Error, Result, ids::UserId};
use org::{
    access::IdOrPath,
    user::{User, store::UserStore},
};

/// Somebody by id or user name.
pub(crate) fn named(tx: &mut Tx<'_>, text: &str) -> Result<User> {
    let found = match IdOrPath::parse(text) {
        IdOrPath::Id(id) => tx.find_user(UserId(id))?,
        IdOrPath::Path(name) => tx.find_user_named(&name)?,
    };
    found.ok_or_else(|| Error::not_found("User"))
}

/// As [`named`]; whom the caller may not know of is not there.
pub(crate) fn seen(tx: &mut Tx<'_>, actor: Actor, text: &str) -> Result<User> {
    if !sees_people(tx, actor)? {
        return Err(Error::not_found("User"));
    }
    named(tx, text)
}
