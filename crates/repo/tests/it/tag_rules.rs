//! Rules of protected tags.

use db::Tx;
use forgeway_repo::{
    policy::ProtectRefs,
    protection::{
        Holder, TagRule, TagRuleStore as _,
        actions::{ProtectRequest, protect_tag, unprotect_tag},
    },
};
use kernel::{AccessLevel, Result, Ts, error::Kind};

use crate::world::{Members, World, test};

fn protect(tx: &mut Tx<'_>, world: &World, name: &str, asked: &ProtectRequest) -> Result<TagRule> {
    let grant = world.may::<ProtectRefs>(world.owner)?;
    protect_tag(tx, &grant, &Members::of(world), name, asked)
}

#[test]
fn without_a_wish_maintainers_make_protected_tags() {
    test(|tx, world| {
        let rule = protect(tx, world, "v*", &ProtectRequest::default())?;
        assert_eq!(rule.create[0].holder, Holder::Role(AccessLevel::Maintainer));
        assert_eq!(tx.tag_rules(world.project)?.len(), 1);
        Ok(())
    });
}

#[test]
fn every_fault_of_a_tag_rule_is_told() {
    test(|tx, world| {
        protect(tx, world, "v*", &ProtectRequest::default())?;
        let strangers = ProtectRequest { level: None, holders: vec![Holder::User(world.guest)] };
        let refused = protect(tx, world, "v*", &strangers).unwrap_err();
        let text =
            "Name has already been taken, Create access levels user is not a member of the project";
        assert_eq!((refused.kind, refused.to_string().as_str()), (Kind::Unprocessable, text));
        Ok(())
    });
}

#[test]
fn a_tag_rule_has_a_name() {
    test(|tx, world| {
        let refused = protect(tx, world, " ", &ProtectRequest::default()).unwrap_err();
        assert_eq!(refused.to_string(), "Name can't be blank");
        Ok(())
    });
}

#[test]
fn a_tag_rule_that_changed_meanwhile_is_not_taken_away() {
    test(|tx, world| {
        protect(tx, world, "v*", &ProtectRequest::default())?;
        let grant = world.may::<ProtectRefs>(world.owner)?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = unprotect_tag(tx, &grant, "v*", Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        unprotect_tag(tx, &grant, "v*", None)?;
        assert_eq!(unprotect_tag(tx, &grant, "v*", None).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}
