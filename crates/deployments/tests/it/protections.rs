//! Who may deploy to protected environments.

use forgeway_deployments::{
    policy::ProtectEnvironments,
    protection::{
        Holder, NewAccess,
        actions::{AccessChange, ProtectionChange, update},
        guard::{DeployRight, deploy_right, open_to},
    },
};
use kernel::{AccessLevel::Maintainer, Actor, Standing, error::Kind, ids::UserId};

use crate::world::{person, role, test};

#[test]
fn roles_people_and_groups_deploy() {
    test(|tx, world| {
        let one = world.environment(tx, "production")?;
        let who = |user| world.standing(user);
        let right = deploy_right(tx, &world.members, &who(world.reporter), &one)?;
        assert_eq!(right, DeployRight::Free);
        let group = NewAccess { holder: Holder::Group(world.group), ..role(Maintainer) };
        world.protect(tx, "production", vec![person(world.reporter), group], Vec::new())?;

        for (user, expected) in [
            (world.reporter, DeployRight::Deployer),
            (world.other_maintainer, DeployRight::Deployer),
            (world.maintainer, DeployRight::Refused),
            (world.developer, DeployRight::Refused),
        ] {
            assert_eq!(deploy_right(tx, &world.members, &who(user), &one)?, expected, "{user}");
        }
        let actor = Actor { id: Some(UserId(99)), admin: true, ..Actor::ANONYMOUS };
        let admin = Standing::in_instance(actor);
        assert_eq!(deploy_right(tx, &world.members, &admin, &one)?, DeployRight::Deployer);
        Ok(())
    });
}

#[test]
fn every_protection_must_let_somebody_in() {
    test(|tx, world| {
        let one = world.environment(tx, "production")?;
        let other = world.environment(tx, "review/a")?;
        world.protect(tx, "production", vec![person(world.reporter)], Vec::new())?;
        world.protect_tier(tx, "production", vec![role(Maintainer)])?;
        let who = world.standing(world.reporter);
        assert_eq!(deploy_right(tx, &world.members, &who, &one)?, DeployRight::Refused);

        let open = open_to(tx, &world.members, &who, world.project, &[one, other])?;

        assert_eq!(open, [false, true]);
        Ok(())
    });
}

#[test]
fn a_name_is_protected_once() {
    test(|tx, world| {
        world.protect(tx, "production", vec![role(Maintainer)], Vec::new())?;
        let again = world.protect(tx, "production", vec![role(Maintainer)], Vec::new());
        assert_eq!(again.unwrap_err().kind, Kind::Conflict);
        let stranger = world.protect(tx, "staging", vec![person(UserId(99))], Vec::new());
        assert_eq!(stranger.unwrap_err().kind, Kind::BadRequest);
        let tier = world.protect_tier(tx, "live", vec![role(Maintainer)]);
        assert_eq!(tier.unwrap_err().kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn somebody_always_deploys() {
    test(|tx, world| {
        let made = world.protect(tx, "production", vec![role(Maintainer)], Vec::new())?;
        let grant = world.may::<ProtectEnvironments>(world.maintainer)?;
        let record = made.rules[0].id;
        let without = ProtectionChange {
            deployers: vec![AccessChange::Remove(record)],
            ..ProtectionChange::default()
        };
        let refused = update(tx, &grant, &world.members, "production", &without).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}
