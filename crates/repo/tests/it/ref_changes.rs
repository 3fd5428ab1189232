//! Whether somebody may move a ref, by the rules that are stored.

use db::Tx;
use forgeway_repo::{
    git::{Oid, RefName},
    policy::ProtectRefs,
    ports::ForkPushBranches,
    protection::{
        Holder,
        actions::{NewProtection, ProtectRequest, protect_branch, protect_tag},
        rules::{check_change, first_refusal, refusals},
    },
    push::{PushSource, RefChange},
};
use kernel::{AccessLevel, Result, error::Kind, ids::UserId};

use crate::world::{Members, OneForkPushBranch, World, test};

const OLD: Option<Oid> = Some(Oid::EMPTY_TREE);
const NEW: Option<Oid> = Some(Oid::new([1; 20]));

fn branch(name: &str, old: Option<Oid>, new: Option<Oid>) -> RefChange {
    RefChange::plain(RefName::branch(name).unwrap(), old, new)
}

fn tag(name: &str, old: Option<Oid>, new: Option<Oid>) -> RefChange {
    RefChange::plain(RefName::full(format!("refs/tags/{name}")).unwrap(), old, new)
}

fn protect(tx: &mut Tx<'_>, world: &World, new: &NewProtection) -> Result<()> {
    let grant = world.may::<ProtectRefs>(world.owner)?;
    protect_branch(tx, &grant, &Members::of(world), new).map(drop)
}

fn named(name: &str) -> NewProtection {
    NewProtection { name: name.to_owned(), ..NewProtection::default() }
}

fn check(
    tx: &mut Tx<'_>,
    world: &World,
    user: UserId,
    change: &RefChange,
    via: PushSource,
) -> Result<()> {
    let fork_push_access: Option<&dyn ForkPushBranches> = None;
    check_change(
        tx,
        &world.standing(user),
        &world.facts(world.project),
        change,
        via,
        fork_push_access,
    )
}

#[test]
fn developers_push_where_nothing_is_protected() {
    test(|tx, world| {
        for change in [branch("tea", None, NEW), branch("tea", OLD, NEW), branch("tea", OLD, None)]
        {
            check(tx, world, world.developer, &change, PushSource::Git)?;
            let refused = check(tx, world, world.guest, &change, PushSource::Git).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest);
        }
        Ok(())
    });
}

#[test]
fn a_rule_keeps_developers_from_pushing_in_its_project_alone() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        let change = branch("main", OLD, NEW);
        assert!(check(tx, world, world.developer, &change, PushSource::Git).is_err());
        check(tx, world, world.owner, &change, PushSource::Git)?;
        let elsewhere = world.facts(world.other);
        check_change(
            tx,
            &world.standing(world.developer),
            &elsewhere,
            &change,
            PushSource::Git,
            None,
        )
    });
}

#[test]
fn a_wildcard_matches_branches() {
    test(|tx, world| {
        protect(tx, world, &named("release/*"))?;
        let mut push =
            |name| check(tx, world, world.developer, &branch(name, OLD, NEW), PushSource::Git);
        assert!(push("release/1").is_err());
        push("released")
    });
}

#[test]
fn a_user_who_is_let_in_by_name_pushes() {
    test(|tx, world| {
        let push = ProtectRequest { level: None, holders: vec![Holder::User(world.developer)] };
        protect(tx, world, &NewProtection { push, ..named("main") })?;
        let change = branch("main", OLD, NEW);
        check(tx, world, world.developer, &change, PushSource::Git)?;
        assert!(check(tx, world, world.owner, &change, PushSource::Git).is_err(), "by name alone");
        Ok(())
    });
}

#[test]
fn whoever_may_merge_need_not_push() {
    test(|tx, world| {
        let merge = ProtectRequest::level(AccessLevel::Developer);
        protect(tx, world, &NewProtection { merge, ..named("main") })?;
        let change = branch("main", OLD, NEW);
        assert!(check(tx, world, world.developer, &change, PushSource::Git).is_err());
        check(tx, world, world.developer, &change, PushSource::Merge)
    });
}

#[test]
fn commits_are_lost_where_the_rule_lets_them() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        protect(tx, world, &NewProtection { allow_force_push: true, ..named("draft") })?;
        let forced = |name| RefChange { forced: true, ..branch(name, OLD, NEW) };
        assert!(check(tx, world, world.owner, &forced("main"), PushSource::Git).is_err());
        check(tx, world, world.owner, &forced("draft"), PushSource::Git)
    });
}

#[test]
fn the_default_branch_stays() {
    test(|tx, world| {
        let gone = branch("main", OLD, None);
        let refused =
            check(tx, world, world.owner, &gone, PushSource::Api).unwrap_err().to_string();
        assert_eq!(refused, "The default branch of a project cannot be deleted.");
        Ok(())
    });
}

#[test]
fn a_protected_branch_is_deleted_by_maintainers_and_not_by_git() {
    test(|tx, world| {
        protect(tx, world, &named("stable"))?;
        let gone = branch("stable", OLD, None);
        assert!(check(tx, world, world.developer, &gone, PushSource::Api).is_err());
        assert!(check(tx, world, world.owner, &gone, PushSource::Git).is_err());
        check(tx, world, world.owner, &gone, PushSource::Api)
    });
}

#[test]
fn a_protected_tag_is_made_by_those_whom_its_rule_lets() {
    test(|tx, world| {
        let grant = world.may::<ProtectRefs>(world.owner)?;
        protect_tag(tx, &grant, &Members::of(world), "v*", &ProtectRequest::default())?;
        let made = tag("v1", None, NEW);
        assert!(check(tx, world, world.developer, &made, PushSource::Git).is_err());
        check(tx, world, world.owner, &made, PushSource::Git)?;
        let moved =
            check(tx, world, world.owner, &tag("v1", OLD, NEW), PushSource::Git).unwrap_err();
        assert_eq!(moved.to_string(), "Protected tags cannot be updated.");
        check(tx, world, world.developer, &tag("nightly", None, NEW), PushSource::Git)
    });
}

#[test]
fn a_branch_that_is_lent_is_moved_and_not_deleted() {
    test(|tx, world| {
        let (who, facts) = (world.standing(world.guest), world.facts(world.project));
        let fork_push_access: Option<&dyn ForkPushBranches> = Some(&OneForkPushBranch("tea"));
        let mut check =
            |change| check_change(tx, &who, &facts, &change, PushSource::Git, fork_push_access);
        check(branch("tea", OLD, NEW))?;
        assert!(check(branch("tea", OLD, None)).is_err());
        assert!(check(branch("milk", OLD, NEW)).is_err());
        Ok(())
    });
}

#[test]
fn the_first_refusal_names_its_change() {
    test(|tx, world| {
        protect(tx, world, &named("stable"))?;
        let (who, facts) = (world.standing(world.developer), world.facts(world.project));
        let changes = [branch("tea", OLD, NEW), branch("stable", OLD, NEW)];
        let first = first_refusal(tx, &who, &facts, &changes, PushSource::Git, None)?;
        assert_eq!(first.map(|(place, _)| place), Some(1));
        let each = refusals(tx, &who, &facts, &changes, PushSource::Git, None)?;
        assert_eq!(each.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
        Ok(())
    });
}
