//! Members of projects and groups.

use db::Tx;
use forgeway_org::{
    access::bans::{let_in, lock_out},
    member::{
        MemberSource,
        actions::{
            DescendantMemberships, EndChange, RemovalOptions, add, add_each, change, remove,
            remove_expired,
        },
        quota::Quota,
        requests::{approve, ask, deny},
        rules::Terms,
    },
};
use kernel::{AccessLevel, Result, error::Kind, ids::UserId};
use time::Duration;

use crate::world::{publish, role, test};

const LEAVING: RemovalOptions = RemovalOptions {
    below: DescendantMemberships::Keep,
    unassign_issuables: false,
    unless_newer: None,
};

fn take_out(tx: &mut Tx<'_>, place: MemberSource, user: UserId) -> Result<()> {
    remove(tx, place, user, LEAVING)
}

#[test]
fn a_role_in_the_group_reaches_its_projects() {
    test(|tx, world| {
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess);
        world.join_group(tx, &world.bob, AccessLevel::Reporter)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Reporter);
        Ok(())
    });
}

#[test]
fn nobody_is_added_twice() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Guest)?;
        let again = world.join(tx, &world.bob, AccessLevel::Developer).unwrap_err();
        assert_eq!(
            (again.kind, again.to_string().as_str()),
            (Kind::Conflict, "Member already exists")
        );
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Guest);
        Ok(())
    });
}

#[test]
fn nobody_gives_a_higher_role_than_their_own() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Maintainer)?;
        let place = world.project_place(tx, &world.bob)?;
        let owner = role(AccessLevel::Owner);
        let refused = add(tx, place, world.admin.id, owner, Quota::Unlimited).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        add(tx, place, world.admin.id, role(AccessLevel::Maintainer), Quota::Unlimited).map(drop)
    });
}

#[test]
fn a_role_has_a_number_that_is_known() {
    test(|tx, world| {
        let place = world.project_place(tx, &world.ada)?;
        for level in [-1, 0, 5, 11, 60] {
            let terms = Terms { level, expires_at: None };
            let refused = add(tx, place, world.bob.id, terms, Quota::Unlimited).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{level}");
        }
        Ok(())
    });
}

#[test]
fn a_role_of_ones_own_is_not_below_an_inherited_one() {
    test(|tx, world| {
        world.join_group(tx, &world.bob, AccessLevel::Developer)?;
        let refused = world.join(tx, &world.bob, AccessLevel::Guest).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        world.join(tx, &world.bob, AccessLevel::Maintainer)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Maintainer);
        Ok(())
    });
}

#[test]
fn a_role_does_not_end_in_the_past() {
    test(|tx, world| {
        let place = world.project_place(tx, &world.ada)?;
        let end = tx.now.plus(Duration::days(-1));
        let terms = Terms { expires_at: Some(end), ..role(AccessLevel::Guest) };
        let refused = add(tx, place, world.bob.id, terms, Quota::Unlimited).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_role_counts_until_its_end() {
    test(|tx, world| {
        let place = world.project_place(tx, &world.ada)?;
        let end = tx.now.plus(Duration::days(1));
        let terms = Terms { expires_at: Some(end), ..role(AccessLevel::Guest) };
        add(tx, place, world.bob.id, terms, Quota::Unlimited)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Guest);
        tx.now = end;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess, "not cleared away yet");
        remove_expired(tx)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess);
        Ok(())
    });
}

#[test]
fn a_group_keeps_an_owner() {
    test(|tx, world| {
        let place = world.group_place(tx, &world.ada)?;
        let (ada, guest) = (world.ada.id, i64::from(AccessLevel::Guest.number()));
        assert_eq!(take_out(tx, place, ada).unwrap_err().kind, Kind::Forbidden);
        let lowered = change(tx, place, ada, guest, EndChange::Keep).unwrap_err();
        assert_eq!(lowered.kind, Kind::Forbidden);
        world.join_group(tx, &world.bob, AccessLevel::Owner)?;
        take_out(tx, place, ada)
    });
}

#[test]
fn everybody_leaves_and_maintainers_take_out_others() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Developer)?;
        world.join(tx, &world.admin, AccessLevel::Guest)?;
        let place = world.project_place(tx, &world.bob)?;
        let refused = take_out(tx, place, world.admin.id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        take_out(tx, place, world.bob.id)?;
        let gone = take_out(tx, place, world.bob.id).unwrap_err();
        assert_eq!(gone.kind, Kind::NotFound);
        let owner = world.project_place(tx, &world.ada)?;
        take_out(tx, owner, world.admin.id)
    });
}

#[test]
fn whoever_is_locked_out_of_the_group_has_no_role_in_it() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Developer)?;
        assert!(lock_out(tx, world.group.id, world.bob.id)?);
        assert!(!lock_out(tx, world.group.id, world.bob.id)?);
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess);
        let_in(tx, world.group.id, world.bob.id)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Developer);
        Ok(())
    });
}

#[test]
fn many_are_added_or_changed_at_once() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Guest)?;
        let place = world.project_place(tx, &world.ada)?;
        let people = [world.bob.id, world.admin.id, UserId(0)];
        let reporter = role(AccessLevel::Reporter);
        assert_eq!(add_each(tx, place, &people, reporter, Quota::Unlimited)?, None);
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Reporter);
        let nobody = add_each(tx, place, &[UserId(0)], reporter, Quota::Unlimited)?;
        assert_eq!(nobody.as_deref(), Some("No users specified."));
        Ok(())
    });
}

#[test]
fn only_so_many_are_added_in_a_day() {
    test(|tx, world| {
        let place = world.project_place(tx, &world.ada)?;
        let guest = role(AccessLevel::Guest);
        let people = [world.bob.id, world.admin.id];
        let too_many = add_each(tx, place, &people, guest, Quota::PerDay(1))?;
        assert_eq!(too_many.as_deref(), Some("Invite limit of 1 per day exceeded."));
        assert_eq!(add_each(tx, place, &people[..1], guest, Quota::PerDay(1))?, None);
        tx.now = tx.now.plus(Duration::days(1));
        assert_eq!(add_each(tx, place, &people, guest, Quota::PerDay(1))?, None);
        Ok(())
    });
}

#[test]
fn whoever_asks_is_let_in_once() {
    test(|tx, world| {
        publish(tx, world)?;
        let (outside, inside) =
            (world.project_place(tx, &world.bob)?, world.project_place(tx, &world.ada)?);
        ask(tx, outside)?;
        assert_eq!(ask(tx, outside).unwrap_err().kind, Kind::BadRequest);
        let level = i64::from(AccessLevel::Developer.number());
        assert_eq!(approve(tx, outside, world.bob.id, level).unwrap_err().kind, Kind::Forbidden);
        approve(tx, inside, world.bob.id, level)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Developer);
        assert_eq!(approve(tx, inside, world.bob.id, level).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn a_request_is_withdrawn_by_whoever_made_it() {
    test(|tx, world| {
        publish(tx, world)?;
        let place = world.project_place(tx, &world.bob)?;
        ask(tx, place)?;
        let other = world.project_place(tx, &world.admin)?;
        deny(tx, place, world.bob.id, None)?;
        assert_eq!(deny(tx, other, world.bob.id, None).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}
