//! Removing accounts. What somebody wrote stays, under the name of nobody, unless it is to go as well.

use db::{
    Tx, each_backend, error,
    schema::{member_invitations, members, namespaces, projects, users},
};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts,
    access::Administrate,
    ids::{NamespaceId, UserId},
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{
    Step, User,
    event::{AccountChange, Event, Person, record_action},
    internal::ghost,
    life::step,
    store::UserStore,
};
use crate::{
    access,
    namespace::{self, store::NamespaceStore},
};

/// Treatment of a removed user's contributions and of groups that only they own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Removal {
    /// It stays; the groups stand in the way.
    Soft,
    /// Everything goes.
    Hard,
}

/// The work of removing an account with its tokens, memberships and personal projects. What others wrote down of the
/// person is not this crate's to change: whoever composes the crates does the work.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoveUser {
    pub user: UserId,
    pub removal: Removal,
    /// The administrator who asked for it.
    pub by: Option<UserId>,
}

impl Job for RemoveUser {
    const KIND: &'static str = "org.remove_user";

    fn unique_key(&self) -> Option<String> {
        Some(self.user.to_string())
    }
}

/// Asks for an account to be removed. From now on nobody can use it.
pub fn begin(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    id: UserId,
    removal: Removal,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let user = tx.user(id)?;
    user.updated_at.ensure_unchanged_since(unless_newer)?;
    if user.internal {
        return Err(Error::forbidden());
    }
    ensure_removable(tx, &user, removal)?;
    if user.state.after(Step::Block).is_some() {
        step(tx, &user, Step::Block)?;
    }
    let by = grant.actor().id;
    record_action(tx, by, &user, AccountChange::RemovalRequest);
    tx.enqueue(&RemoveUser { user: id, removal, by })
}

/// Removes an account whose work is handed over, unless it is gone already. `by` asked for it.
pub fn finish(tx: &mut Tx<'_>, id: UserId, removal: Removal, by: Option<UserId>) -> Result<()> {
    match tx.find_user(id)? {
        Some(user) => remove_with_everything(tx, &user, removal, by),
        None => Ok(()),
    }
}

/// Groups that nobody else owns stand in the way, unless they are to go, too.
fn ensure_removable(tx: &mut Tx<'_>, user: &User, removal: Removal) -> Result<Vec<NamespaceId>> {
    let alone = tx.groups_owned_alone(user.id)?;
    if !alone.is_empty() && removal == Removal::Soft {
        return Err(
            Error::conflict().whole("User cannot be removed while is the sole-owner of a group")
        );
    }
    Ok(alone)
}

pub(super) fn remove_with_everything(
    tx: &mut Tx<'_>,
    user: &User,
    removal: Removal,
    by: Option<UserId>,
) -> Result<()> {
    access::lock_access_projection(tx)?;
    // Now, since administrators may remove themselves.
    let by = match by {
        Some(id) => tx.find_user(id)?.as_ref().map(Person::from),
        None => None,
    };
    for group in ensure_removable(tx, user, removal)? {
        namespace::actions::remove_tree(tx, group, by.as_ref())?;
    }
    if let Some(home) = tx.personal_namespace(user.id)? {
        namespace::actions::remove_tree(tx, home.id, by.as_ref())?;
    }
    let heir = match removal {
        Removal::Soft => Some(ghost(tx)?.id),
        Removal::Hard => None,
    };
    reassign(tx, user.id, heir)?;
    tx.emit(Event::UserDestroy { person: user.into(), heir, by })?;
    tx.delete_user(user.id)
}

/// Who made what others still use is now the heir.
fn reassign(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    if let Some(heir) = heir {
        let made = diesel::update(projects::table.filter(projects::creator_id.eq(from)))
            .set(projects::creator_id.eq(heir));
        each_backend!(tx, |conn| made.execute(conn).map_err(error("Project")))?;
    }
    let invited = diesel::update(members::table.filter(members::created_by.eq(from)))
        .set(members::created_by.eq(heir));
    each_backend!(tx, |conn| invited.execute(conn).map_err(error("Member")))?;
    let expected =
        diesel::update(member_invitations::table.filter(member_invitations::created_by.eq(from)))
            .set(member_invitations::created_by.eq(heir));
    each_backend!(tx, |conn| expected.execute(conn).map_err(error("Invitation")))?;
    let marked = diesel::update(namespaces::table.filter(namespaces::marked_by.eq(from)))
        .set(namespaces::marked_by.eq(heir));
    each_backend!(tx, |conn| marked.execute(conn).map_err(error("Group")))?;
    let registered = diesel::update(users::table.filter(users::created_by.eq(from)))
        .set(users::created_by.eq(heir));
    each_backend!(tx, |conn| registered.execute(conn).map_err(error("User")))?;
    Ok(())
}
