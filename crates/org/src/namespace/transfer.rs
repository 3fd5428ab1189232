//! Moving a group into another one, or to the top.

use db::{
    Tx, each_backend, error,
    schema::{members, namespaces, users},
};
use diesel::prelude::*;
use kernel::{AccessLevel, Error, Grant, Result, Standing, ids::NamespaceId};

use super::{
    Namespace,
    actions::{may_create, read},
    addresses::{lower_visibility, relocate},
    event::Event,
    full_path::{NewPath, below},
    networks, rules, runners,
    store::NamespaceStore,
};
use crate::{
    access::{self, seats},
    faults::Faults,
    member::{NewMember, Source, steps::insert},
    policy::AdminGroup,
    settings::store::SettingsStore,
    token::actions::sentence,
};

fn stays(why: &str) -> Error {
    Error::bad_request().whole(format!("Transfer failed: {why}"))
}

/// Moves a group, with everything in it. Without a target it goes to the top.
pub fn transfer(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    target: Option<(NamespaceId, Standing)>,
) -> Result<Namespace> {
    access::lock_access_projection(tx)?;
    let target = read(tx, target)?;
    let group = tx.namespace(grant.group())?;
    ensure_elsewhere(&group, target.as_ref())?;
    let settings = tx.settings()?;
    let user = grant.user()?;
    if !may_create(tx, user, grant.actor().admin, target.as_ref(), &settings)? {
        return Err(stays("You don't have enough permissions."));
    }
    let parent = target.map(|(parent, _)| parent);
    let place = NewPath::below(parent.as_ref(), &group.name, &group.path);
    if tx.is_path_taken(&place.full_path)? {
        return Err(stays(
            "The parent group already has a subgroup or a project with the same path.",
        ));
    }
    if parent.as_ref().is_some_and(|parent| lies_in(parent, &group)) {
        return Err(stays("Cannot transfer group to one of its subgroup."));
    }
    if let Some(why) = faults(tx, &group, parent.as_ref())? {
        return Err(stays(&why));
    }
    finish_transfer(tx, &group, parent.as_ref(), &place)?;
    if parent.is_none() && !has_owner(tx, &group)? {
        let new = NewMember {
            source: Source::Group(group.id),
            user_id: user,
            access_level: AccessLevel::Owner,
            expires_at: None,
            created_by: Some(user),
        };
        insert(tx, &new)?;
    }
    let moved = tx.namespace(group.id)?;
    tx.emit(Event::GroupTransfer {
        group: (&moved).into(),
        old_full_path: group.full_path,
        user: Some(user),
    })?;
    Ok(moved)
}

fn ensure_elsewhere(group: &Namespace, target: Option<&(Namespace, Standing)>) -> Result<()> {
    match (group.parent_id, target) {
        (None, None) => Err(stays("Group is already a root group.")),
        (Some(parent), Some((target, _))) if parent == target.id => {
            Err(stays("Group is already associated to the parent group."))
        }
        _ => Ok(()),
    }
}

/// Whether a namespace is the group or lies somewhere below it.
fn lies_in(namespace: &Namespace, group: &Namespace) -> bool {
    let (from, to) = below(&group.full_path);
    let key = namespace.full_path.to_lowercase();
    namespace.id == group.id || (key >= from && key < to)
}

/// What the group's record would have wrong with it in its new place, in one sentence.
fn faults(
    tx: &mut Tx<'_>,
    group: &Namespace,
    parent: Option<&Namespace>,
) -> Result<Option<String>> {
    let mut faults = Faults::default();
    let paths = match parent {
        Some(_) => rules::inner_path_faults(&group.path),
        None => rules::top_level_path_faults(&group.path),
    };
    faults.add_each("path", paths);
    if let Some(parent) = parent {
        if tx.is_name_taken(parent.id, &group.name, Some(group.id))? {
            faults.add("name", "has already been taken");
        }
        if rules::is_too_deep(&parent.full_path, height(tx, group)?) {
            faults.add("parent", rules::TOO_DEEP);
        }
    }
    Ok(sentence(faults))
}

fn depth(namespace: &Namespace) -> usize {
    namespace.full_path.split('/').count()
}

/// Depth of the hierarchy below a group.
fn height(tx: &mut Tx<'_>, group: &Namespace) -> Result<usize> {
    let (from, to) = below(&group.full_path);
    let paths = namespaces::table
        .filter(namespaces::path_key.ge(from).and(namespaces::path_key.lt(to)))
        .filter(namespaces::deleted_at.is_null())
        .select(namespaces::full_path);
    let paths: Vec<String> = each_backend!(tx, |conn| paths.load(conn).map_err(error("Group")))?;
    let deepest = paths.iter().map(|path| path.split('/').count()).max();
    Ok(deepest.unwrap_or(depth(group)) + 1 - depth(group))
}

fn finish_transfer(
    tx: &mut Tx<'_>,
    group: &Namespace,
    parent: Option<&Namespace>,
    place: &NewPath,
) -> Result<()> {
    seats::leaves(tx, &group.full_path)?;
    relocate(tx, group, place)?;
    let row = namespaces::table.find(group.id);
    let parent_id = parent.map(|parent| parent.id);
    each_backend!(tx, |conn| diesel::update(row)
        .set(namespaces::parent_id.eq(parent_id))
        .execute(conn)
        .map_err(error("Group")))?;
    let moved = tx.namespace(group.id)?;
    if let Some(parent) = parent {
        lower_visibility(tx, &moved, parent.visibility)?;
        runners::follow(tx, &moved, parent)?;
    }
    networks::keep(tx, &moved, parent.and_then(|parent| parent.ip_ranges.as_deref()))?;
    access::refresh_group(tx, group.id)
}

/// Whether anybody was made an owner of the group itself.
fn has_owner(tx: &mut Tx<'_>, group: &Namespace) -> Result<bool> {
    let owners = members::table
        .inner_join(users::table)
        .filter(members::namespace_id.eq(group.id))
        .filter(members::access_level.eq(AccessLevel::Owner))
        .filter(members::expires_at.is_null().or(members::expires_at.gt(tx.now)))
        .filter(users::bot.eq(false))
        .count();
    let count: i64 = each_backend!(tx, |conn| owners.get_result(conn).map_err(error("Member")))?;
    Ok(count > 0)
}
