//! Push rules of projects, groups and the installation.

use db::Tx;
use forgeway_repo::{
    policy::{AdminGroupPushRule, AdminPushRule},
    push_rule::{
        PushRule, Terms,
        actions::{begin, create, delete, enforced, ensure_branch_may_be_made, show, update},
    },
};
use kernel::{
    Actor, Grant, Result, Standing, Ts,
    access::{Administrate, Instance},
    error::Kind,
};

use crate::world::{World, test};

fn of_project(world: &World) -> Grant<AdminPushRule> {
    world.may(world.owner).unwrap()
}

fn of_group(world: &World) -> Grant<AdminGroupPushRule> {
    world.may_in_group(world.owner).unwrap()
}

fn of_installation(world: &World) -> Grant<Administrate> {
    let actor = Actor { id: Some(world.owner), admin: true, ..Actor::ANONYMOUS };
    Grant::check(&Standing::in_instance(actor), Instance).unwrap()
}

fn make(tx: &mut Tx<'_>, world: &World, change: impl FnOnce(&mut Terms)) -> Result<PushRule> {
    create(tx, &of_project(world), change)
}

#[test]
fn a_project_has_one_push_rule() {
    test(|tx, world| {
        assert!(show(tx, &of_project(world))?.is_none());
        make(tx, world, |terms| terms.member_check = true)?;
        let again = make(tx, world, |_| {}).unwrap_err();
        assert_eq!(
            (again.kind, again.to_string().as_str()),
            (Kind::Conflict, "Project push rule exists")
        );
        assert!(show(tx, &of_project(world))?.unwrap().terms.member_check);
        Ok(())
    });
}

#[test]
fn push_rules_are_for_maintainers_of_projects_and_owners_of_groups() {
    test(|_, world| {
        let refused = world.may::<AdminPushRule>(world.developer).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let hidden = world.may_in_group::<AdminGroupPushRule>(world.developer).unwrap_err();
        assert_eq!(hidden.kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn patterns_and_sizes_have_to_be_possible() {
    test(|tx, world| {
        let mut refused = |change: fn(&mut Terms)| make(tx, world, change).unwrap_err().kind;
        let kinds = [
            refused(|terms| terms.max_file_size = -1),
            refused(|terms| terms.max_file_size = i64::MAX),
            refused(|terms| terms.branch_name_regex = Some("(".to_owned())),
            refused(|terms| terms.file_name_regex = Some("x".repeat(512))),
        ];
        assert_eq!(kinds, [Kind::BadRequest; 4]);
        make(tx, world, |terms| terms.file_name_regex = Some("x".repeat(511))).map(drop)
    });
}

#[test]
fn a_change_keeps_the_rest_of_a_push_rule() {
    test(|tx, world| {
        let lost = update(tx, &of_project(world), |_| {}).unwrap_err();
        assert!(lost.is_not_found("Push Rule"));
        make(tx, world, |terms| terms.member_check = true)?;
        let rule = update(tx, &of_project(world), |terms| terms.prevent_secrets = true)?;
        assert!(rule.terms.member_check && rule.terms.prevent_secrets);
        Ok(())
    });
}

#[test]
fn a_push_rule_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        make(tx, world, |_| {})?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = delete(tx, &of_project(world), Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        delete(tx, &of_project(world), Some(tx.now))?;
        assert_eq!(delete(tx, &of_project(world), None).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn what_a_rule_leaves_open_the_installation_decides() {
    test(|tx, world| {
        make(tx, world, |_| {})?;
        assert_eq!(enforced(tx, world.project)?.unwrap().reject_unsigned_commits, Some(false));
        create(tx, &of_installation(world), |terms| terms.reject_unsigned_commits = Some(true))?;
        assert_eq!(enforced(tx, world.project)?.unwrap().reject_unsigned_commits, Some(true));
        update(tx, &of_project(world), |terms| terms.reject_unsigned_commits = Some(false))?;
        assert_eq!(enforced(tx, world.project)?.unwrap().reject_unsigned_commits, Some(false));
        Ok(())
    });
}

#[test]
fn a_new_project_begins_with_the_rule_of_its_group() {
    test(|tx, world| {
        create(tx, &of_installation(world), |terms| terms.max_file_size = 1)?;
        create(tx, &of_group(world), |terms| terms.max_file_size = 2)?;
        begin(tx, world.project, &[world.group])?;
        begin(tx, world.other, &[])?;
        assert_eq!(enforced(tx, world.project)?.unwrap().max_file_size, 2);
        assert_eq!(enforced(tx, world.other)?.unwrap().max_file_size, 1);
        Ok(())
    });
}

#[test]
fn without_any_rule_a_new_project_begins_with_none() {
    test(|tx, world| {
        begin(tx, world.project, &[world.group])?;
        assert!(enforced(tx, world.project)?.is_none());
        Ok(())
    });
}

#[test]
fn a_branch_is_called_as_the_rule_wants() {
    test(|tx, world| {
        ensure_branch_may_be_made(tx, world.project, "tea")?;
        make(tx, world, |terms| terms.branch_name_regex = Some("^feature/".to_owned()))?;
        assert!(ensure_branch_may_be_made(tx, world.project, "tea").is_err());
        ensure_branch_may_be_made(tx, world.project, "feature/tea")?;
        ensure_branch_may_be_made(tx, world.other, "tea")
    });
}
