//! Rules of protected branches.

use db::Tx;
use forgeway_repo::{
    policy::ProtectRefs,
    protection::{
        AccessKind, BranchRule, BranchRuleStore as _, Holder,
        actions::{
            AccessChange, NewProtection, ProtectRequest, ProtectionChange, protect_branch,
            unprotect_branch, update_branch,
        },
        branch_presets::{
            DefaultProtection, protect_default_branch, protect_for_developers,
            unprotect_if_protected,
        },
    },
};
use kernel::{AccessLevel, Grant, Result, Ts, error::Kind, ids::AccessRecordId};

use crate::world::{Members, World, test};

fn grant(world: &World) -> Grant<ProtectRefs> {
    world.may(world.owner).unwrap()
}

fn named(name: &str) -> NewProtection {
    NewProtection { name: name.to_owned(), ..NewProtection::default() }
}

fn protect(tx: &mut Tx<'_>, world: &World, new: &NewProtection) -> Result<BranchRule> {
    protect_branch(tx, &grant(world), &Members::of(world), new)
}

fn change_push(tx: &mut Tx<'_>, world: &World, changes: Vec<AccessChange>) -> Result<BranchRule> {
    let change = ProtectionChange { push: changes, ..ProtectionChange::default() };
    update_branch(tx, &grant(world), &Members::of(world), "main", &change)
}

fn pushers(rule: &BranchRule) -> Vec<Holder> {
    rule.access(AccessKind::Push).iter().map(|access| access.holder).collect()
}

#[test]
fn maintainers_protect_branches() {
    test(|_, world| {
        let refused = world.may::<ProtectRefs>(world.developer).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        assert!(world.may::<ProtectRefs>(world.owner).is_ok());
        Ok(())
    });
}

#[test]
fn without_a_wish_maintainers_push_and_merge() {
    test(|tx, world| {
        let rule = protect(tx, world, &named("main"))?;
        let holders: Vec<Holder> = rule.records().map(|access| access.holder).collect();
        assert_eq!(holders, [Holder::Role(AccessLevel::Maintainer); 3]);
        Ok(())
    });
}

#[test]
fn a_name_is_protected_once_in_a_project() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        let again = protect(tx, world, &named("main")).unwrap_err();
        let text = "Protected branch 'main' already exists";
        assert_eq!((again.kind, again.to_string().as_str()), (Kind::Conflict, text));
        let there = world.may_in::<ProtectRefs>(world.other, world.owner)?;
        protect_branch(tx, &there, &Members::of(world), &named("main")).map(drop)
    });
}

#[test]
fn a_rule_has_a_name_that_an_index_holds() {
    test(|tx, world| {
        for name in [String::new(), " ".to_owned(), "x".repeat(256)] {
            let refused = protect(tx, world, &named(&name)).unwrap_err();
            assert_eq!(refused.kind, Kind::Unprocessable, "{name}");
        }
        protect(tx, world, &named(&"x".repeat(255))).map(drop)
    });
}

#[test]
fn only_members_are_let_in_by_name() {
    test(|tx, world| {
        let push = |holder| ProtectRequest { level: None, holders: vec![holder] };
        for outsider in [Holder::User(world.guest), Holder::Group(world.group)] {
            let new = NewProtection { push: push(outsider), ..named("main") };
            let refused = protect(tx, world, &new).unwrap_err();
            assert_eq!(refused.kind, Kind::Unprocessable, "{outsider:?}");
        }
        let new = NewProtection { push: push(Holder::User(world.developer)), ..named("main") };
        assert_eq!(pushers(&protect(tx, world, &new)?), [Holder::User(world.developer)]);
        Ok(())
    });
}

#[test]
fn every_outsider_is_told() {
    test(|tx, world| {
        let stranger = ProtectRequest { level: None, holders: vec![Holder::User(world.guest)] };
        let new = NewProtection { push: stranger.clone(), merge: stranger, ..named("main") };
        let refused = protect(tx, world, &new).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Push access levels user is not a member of the project, \
             Merge access levels user is not a member of the project"
        );
        Ok(())
    });
}

#[test]
fn a_group_is_let_in_where_the_project_is_shared_with_it() {
    test(|tx, world| {
        let members = Members { groups: vec![world.group], ..Members::of(world) };
        let push = ProtectRequest { level: None, holders: vec![Holder::Group(world.group)] };
        let rule =
            protect_branch(tx, &grant(world), &members, &NewProtection { push, ..named("main") })?;
        assert_eq!(pushers(&rule), [Holder::Group(world.group)]);
        Ok(())
    });
}

#[test]
fn nobody_is_let_in_twice() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        let developers = Holder::Role(AccessLevel::Developer);
        change_push(tx, world, vec![AccessChange::Add(developers)])?;
        let again = change_push(tx, world, vec![AccessChange::Add(developers)]).unwrap_err();
        assert_eq!(again.to_string(), "Push access levels access level has already been taken");
        Ok(())
    });
}

#[test]
fn a_record_is_set_to_itself_and_removed() {
    test(|tx, world| {
        let id = protect(tx, world, &named("main"))?.access(AccessKind::Push)[0].id;
        let maintainers = Holder::Role(AccessLevel::Maintainer);
        let rule = change_push(tx, world, vec![AccessChange::Set(id, maintainers)])?;
        assert_eq!(pushers(&rule), [maintainers]);
        let rule = change_push(tx, world, vec![AccessChange::Remove(id)])?;
        assert!(pushers(&rule).is_empty());
        Ok(())
    });
}

#[test]
fn a_record_of_another_rule_is_not_there() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        let foreign = protect(tx, world, &named("stable"))?.access(AccessKind::Push)[0].id;
        for id in [foreign, AccessRecordId(0)] {
            let refused = change_push(tx, world, vec![AccessChange::Remove(id)]).unwrap_err();
            assert_eq!(refused.kind, Kind::NotFound);
        }
        Ok(())
    });
}

#[test]
fn a_rule_is_changed_by_those_whom_it_lets() {
    test(|tx, world| {
        let unprotect = ProtectRequest::level(AccessLevel::Admin);
        protect(tx, world, &NewProtection { unprotect, ..named("main") })?;
        let refused = change_push(tx, world, Vec::new()).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let refused = unprotect_branch(tx, &grant(world), "main", None).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn a_rule_that_changed_meanwhile_is_not_taken_away() {
    test(|tx, world| {
        protect(tx, world, &named("main"))?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = unprotect_branch(tx, &grant(world), "main", Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        unprotect_branch(tx, &grant(world), "main", Some(tx.now))?;
        let gone = unprotect_branch(tx, &grant(world), "main", None).unwrap_err();
        assert_eq!(gone.kind, Kind::NotFound);
        unprotect_if_protected(tx, &grant(world), "main")
    });
}

#[test]
fn the_older_way_replaces_roles_and_keeps_users() {
    test(|tx, world| {
        let holders = vec![Holder::User(world.developer)];
        let push = ProtectRequest { level: Some(AccessLevel::Maintainer), holders };
        protect(tx, world, &NewProtection { push, ..named("main") })?;
        protect_for_developers(tx, &grant(world), "main", Some(true), None)?;
        let rule = tx.find_branch_rule(world.project, "main")?.unwrap();
        let mut pushers = pushers(&rule);
        pushers.sort_by_key(|holder| holder.user());
        let developers = Holder::Role(AccessLevel::Developer);
        assert_eq!(pushers, [developers, Holder::User(world.developer)]);
        let merge = rule.access(AccessKind::Merge)[0].holder;
        assert_eq!(merge, Holder::Role(AccessLevel::Maintainer));
        Ok(())
    });
}

#[test]
fn the_default_branch_is_protected_as_its_group_says() {
    test(|tx, world| {
        protect_default_branch(tx, world.project, "main", DefaultProtection::None)?;
        assert!(tx.find_branch_rule(world.project, "main")?.is_none());
        protect_default_branch(tx, world.project, "main", DefaultProtection::DevelopersPush)?;
        let rule = tx.find_branch_rule(world.project, "main")?.unwrap();
        assert_eq!(pushers(&rule), [Holder::Role(AccessLevel::Developer)]);
        Ok(())
    });
}

#[test]
fn a_default_branch_that_a_rule_matches_gets_no_other() {
    test(|tx, world| {
        protect(tx, world, &named("m*"))?;
        protect_default_branch(tx, world.project, "main", DefaultProtection::Full)?;
        assert_eq!(tx.branch_rules(world.project)?.len(), 1);
        Ok(())
    });
}
