//! Groups that others are shared with.

use db::Tx;
use forgeway_org::{
    member::{MemberSource, actions::add, quota::Quota},
    namespace::{
        Namespace,
        actions::update,
        sharing::{self, share, unshare},
    },
    policy::{AdminGroup, AdminProject, UseGroup},
    project::links,
};
use kernel::{AccessLevel, Result, error::Kind, ids::NamespaceId};

use crate::world::{World, in_group, in_project, new_group, role, test};

/// A group in which Bob is an owner and that Ada sees as a guest.
fn guests(tx: &mut Tx<'_>, world: &World) -> Result<Namespace> {
    let group = new_group(tx, &world.bob, "guests", None)?;
    let grant = in_group::<AdminGroup>(tx, &world.bob, group.id)?;
    let guest = role(AccessLevel::Guest);
    add(tx, MemberSource::group(&grant), world.ada.id, guest, Quota::Unlimited)?;
    Ok(group)
}

fn share_group(tx: &mut Tx<'_>, world: &World, invited: NamespaceId) -> Result<Namespace> {
    let grant = in_group::<UseGroup>(tx, &world.ada, world.group.id)?;
    let with = sharing::Sharing { invited, level: AccessLevel::Reporter, expires_at: None };
    share(tx, &grant, with)
}

fn share_project(tx: &mut Tx<'_>, world: &World, group: NamespaceId) -> Result<()> {
    let grant = in_project::<AdminProject>(tx, &world.ada, world.project.id)?;
    let with = links::Sharing { group, level: AccessLevel::Reporter, expires_at: None };
    links::share(tx, &grant, with).map(drop)
}

#[test]
fn a_share_gives_at_most_its_role() {
    test(|tx, world| {
        let guests = guests(tx, world)?;
        share_group(tx, world, guests.id)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Reporter);
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        unshare(tx, &grant, guests.id)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess);
        assert!(unshare(tx, &grant, guests.id).unwrap_err().is_not_found("Group Link"));
        Ok(())
    });
}

#[test]
fn a_group_is_shared_once_and_not_with_itself() {
    test(|tx, world| {
        let guests = guests(tx, world)?;
        assert_eq!(share_group(tx, world, world.group.id).unwrap_err().kind, Kind::Conflict);
        share_group(tx, world, guests.id)?;
        assert_eq!(share_group(tx, world, guests.id).unwrap_err().kind, Kind::Conflict);
        Ok(())
    });
}

#[test]
fn a_group_that_one_does_not_see_is_not_invited() {
    test(|tx, world| {
        let hidden = new_group(tx, &world.bob, "hidden", None)?;
        assert_eq!(share_group(tx, world, hidden.id).unwrap_err().kind, Kind::NotFound);
        assert_eq!(share_project(tx, world, hidden.id).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn a_project_is_shared_once() {
    test(|tx, world| {
        let guests = guests(tx, world)?;
        share_project(tx, world, guests.id)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Reporter);
        assert_eq!(share_project(tx, world, guests.id).unwrap_err().kind, Kind::Conflict);
        Ok(())
    });
}

#[test]
fn a_group_may_keep_its_projects_from_being_shared() {
    test(|tx, world| {
        let guests = guests(tx, world)?;
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        update(tx, &grant, |group| group.settings.share_with_group_lock = true)?;
        let refused = share_project(tx, world, guests.id).unwrap_err();
        assert_eq!(refused.to_string(), "The project sharing with group is disabled");
        Ok(())
    });
}
