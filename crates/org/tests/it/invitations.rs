//! Addresses that are invited.

use db::Tx;
use forgeway_org::{
    email::actions::{Proof, add},
    member::{
        actions::EndChange,
        invitations::{Guests, Outcome, change, invite, list, withdraw},
        quota::Quota,
    },
    user::actions::{NewUser, create},
};
use kernel::{AccessLevel, Result, error::Kind, page::PageRequest};

use crate::world::{World, role, test};

fn addresses(emails: &[&str]) -> Guests {
    Guests { emails: emails.iter().map(|email| (*email).to_owned()).collect(), users: Vec::new() }
}

fn invited(tx: &mut Tx<'_>, world: &World, emails: &[&str]) -> Result<Outcome> {
    let place = world.project_place(tx, &world.ada)?;
    invite(tx, place, &addresses(emails), role(AccessLevel::Developer), Quota::Unlimited)
}

fn count(tx: &mut Tx<'_>, world: &World) -> Result<usize> {
    let place = world.project_place(tx, &world.ada)?;
    Ok(list(tx, place, None, PageRequest::default())?.items.len())
}

#[test]
fn an_address_is_invited_once_whatever_its_letter_case() {
    test(|tx, world| {
        assert_eq!(invited(tx, world, &["zoe@example.com", "Zoe@Example.com"])?, Outcome::Done);
        assert_eq!(invited(tx, world, &["ZOE@example.com"])?, Outcome::Done);
        assert_eq!(count(tx, world)?, 1);
        Ok(())
    });
}

#[test]
fn whoever_is_known_becomes_a_member_at_once() {
    test(|tx, world| {
        invited(tx, world, &["bob@example.com"])?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Developer);
        assert_eq!(count(tx, world)?, 0);
        Ok(())
    });
}

#[test]
fn a_new_user_with_the_address_becomes_a_member() {
    test(|tx, world| {
        invited(tx, world, &["Zoe@example.com"])?;
        let zoe = create(tx, &NewUser::named("zoe"))?;
        assert_eq!(world.level(tx, zoe.id)?, AccessLevel::Developer);
        assert_eq!(count(tx, world)?, 0);
        Ok(())
    });
}

#[test]
fn a_further_address_is_invited_as_well() {
    test(|tx, world| {
        invited(tx, world, &["bob@home.example"])?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::NoAccess);
        add(tx, world.bob.id, "bob@home.example", Proof::Administrator)?;
        assert_eq!(world.level(tx, world.bob.id)?, AccessLevel::Developer);
        Ok(())
    });
}

#[test]
fn nobody_is_invited_to_a_higher_role_than_ones_own() {
    test(|tx, world| {
        world.join(tx, &world.bob, AccessLevel::Maintainer)?;
        let place = world.project_place(tx, &world.bob)?;
        let guests = addresses(&["zoe@example.com"]);
        let owner = role(AccessLevel::Owner);
        let refused = invite(tx, place, &guests, owner, Quota::Unlimited).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        invited(tx, world, &["zoe@example.com"])?;
        let raised =
            change(tx, place, "zoe@example.com", Some(AccessLevel::Owner), EndChange::Keep);
        assert_eq!(raised.unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn an_invitation_is_taken_back() {
    test(|tx, world| {
        invited(tx, world, &["zoe@example.com"])?;
        let place = world.project_place(tx, &world.ada)?;
        assert!(withdraw(tx, place, "Zoe@example.com", None)?);
        assert!(!withdraw(tx, place, "zoe@example.com", None)?);
        let zoe = create(tx, &NewUser::named("zoe"))?;
        assert_eq!(world.level(tx, zoe.id)?, AccessLevel::NoAccess);
        Ok(())
    });
}

#[test]
fn nobody_is_no_guest() {
    test(|tx, world| {
        let refused = Outcome::Refused("Invites cannot be blank".to_owned());
        assert_eq!(invited(tx, world, &[])?, refused);
        Ok(())
    });
}
