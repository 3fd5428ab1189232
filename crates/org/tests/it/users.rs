//! Accounts.

use db::Tx;
use forgeway_org::{
    namespace::store::NamespaceStore as _,
    user::{
        Details, State, User,
        actions::{Changes, NewUser, create, update},
        life::{activate, ban, block, deactivate, unban, unblock},
        list::{Order, UserFilter},
        list_rules::ensure_may_list,
        store::UserStore as _,
    },
};
use kernel::{Actor, Result, error::Kind};

use crate::world::{World, administers, test};

fn change(tx: &mut Tx<'_>, world: &World, change: impl FnOnce(&mut Details)) -> Result<User> {
    update(tx, &administers(&world.admin), world.bob.id, &Changes::default(), change)
}

#[test]
fn a_new_user_has_a_namespace_of_their_own() {
    test(|tx, world| {
        let home = tx.personal_namespace(world.bob.id)?.unwrap();
        assert_eq!((home.full_path.as_str(), home.owner_id), ("bob", Some(world.bob.id)));
        Ok(())
    });
}

#[test]
fn external_users_and_bots_make_nothing() {
    test(|tx, _| {
        let external = create(tx, &NewUser { external: true, ..NewUser::named("eve") })?;
        let bot = create(tx, &NewUser { bot: true, ..NewUser::named("robot") })?;
        for user in [external, bot] {
            assert_eq!((user.projects_limit, user.can_create_group), (0, false));
        }
        Ok(())
    });
}

#[test]
fn a_user_who_becomes_external_makes_nothing_any_more() {
    test(|tx, world| {
        let bob = change(tx, world, |details| details.external = true)?;
        assert_eq!((bob.projects_limit, bob.can_create_group), (0, false));
        let bob = change(tx, world, |details| details.external = false)?;
        assert_eq!((bob.projects_limit, bob.can_create_group), (100_000, true));
        Ok(())
    });
}

#[test]
fn names_and_addresses_are_taken_whatever_their_letter_case() {
    test(|tx, world| {
        let name = change(tx, world, |details| details.username = "ADA".to_owned()).unwrap_err();
        assert_eq!(name.to_string(), "Username has already been taken");
        let taken = change(tx, world, |details| details.email = "Ada@Example.com".to_owned());
        assert_eq!(taken.unwrap_err().to_string(), "Email has already been taken");
        Ok(())
    });
}

#[test]
fn an_address_could_get_a_letter() {
    test(|tx, world| {
        for address in ["", "bob", "@example.com", "bob@", "a b@example.com"] {
            let refused = change(tx, world, |details| details.email = address.to_owned());
            assert_eq!(refused.unwrap_err().kind, Kind::BadRequest, "{address}");
        }
        Ok(())
    });
}

#[test]
fn a_new_user_name_moves_the_namespace() {
    test(|tx, world| {
        change(tx, world, |details| details.username = "robert".to_owned())?;
        assert_eq!(tx.personal_namespace(world.bob.id)?.unwrap().full_path, "robert");
        Ok(())
    });
}

#[test]
fn a_new_address_waits_until_it_is_confirmed() {
    test(|tx, world| {
        let waiting = change(tx, world, |details| details.email = "bob@new.example".to_owned())?;
        assert_eq!(waiting.email, "bob@example.com");
        let (grant, confirmed) =
            (administers(&world.admin), Changes { confirmed: true, ..Changes::default() });
        let changed = update(tx, &grant, world.bob.id, &confirmed, |details| {
            details.email = "bob@new.example".to_owned();
        })?;
        assert_eq!(changed.email, "bob@new.example");
        Ok(())
    });
}

#[test]
fn administrators_block_others_and_not_themselves() {
    test(|tx, world| {
        let grant = administers(&world.admin);
        let refused = block(tx, &grant, world.admin.id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        assert_eq!(block(tx, &grant, world.bob.id)?, Some(true));
        assert_eq!(block(tx, &grant, world.bob.id)?, None);
        assert_eq!(tx.user(world.bob.id)?.state, State::Blocked);
        assert!(unblock(tx, &grant, world.bob.id)?);
        Ok(())
    });
}

#[test]
fn a_blocked_user_is_unblocked_before_anything_else() {
    test(|tx, world| {
        let grant = administers(&world.admin);
        block(tx, &grant, world.bob.id)?;
        for done in [
            deactivate(tx, &grant, world.bob.id).map(drop),
            activate(tx, &grant, world.bob.id).map(drop),
            ban(tx, &grant, world.bob.id).map(drop),
        ] {
            assert_eq!(done.unwrap_err().kind, Kind::Forbidden);
        }
        Ok(())
    });
}

#[test]
fn only_a_banned_user_is_unbanned() {
    test(|tx, world| {
        let grant = administers(&world.admin);
        assert_eq!(unban(tx, &grant, world.bob.id).unwrap_err().kind, Kind::Forbidden);
        assert!(ban(tx, &grant, world.bob.id)?);
        assert!(unban(tx, &grant, world.bob.id)?);
        assert_eq!(tx.user(world.bob.id)?.state, State::Active);
        Ok(())
    });
}

#[test]
fn anonymous_callers_look_up_names_alone() {
    test(|tx, _| {
        let named = UserFilter { username: Some("bob".to_owned()), ..UserFilter::default() };
        assert!(ensure_may_list(tx, Actor::ANONYMOUS, &named).is_ok());
        let refused = ensure_may_list(tx, Actor::ANONYMOUS, &UserFilter::default());
        assert_eq!(refused.unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn identities_are_searched_by_administrators() {
    test(|tx, world| {
        let identity = Some(("saml".to_owned(), "bob".to_owned()));
        let filter =
            UserFilter { username: Some("bob".to_owned()), identity, ..UserFilter::default() };
        let refused =
            |tx: &mut Tx<'_>, actor| ensure_may_list(tx, actor, &filter).unwrap_err().kind;
        assert_eq!(refused(tx, Actor::ANONYMOUS), Kind::Unauthenticated);
        assert_eq!(refused(tx, world.bob.actor()), Kind::Forbidden);
        let admin = Actor { admin: true, ..world.admin.actor() };
        assert!(ensure_may_list(tx, admin, &filter).is_ok());
        Ok(())
    });
}

#[test]
fn filters_of_administrators_do_nothing_for_others() {
    let filter = || UserFilter { admins: true, order: Order::Name, ..UserFilter::default() };
    let others = filter().allowed_for(Actor::ANONYMOUS);
    assert!(!others.admins && !others.any_email && others.descending);
    assert_eq!(others.order, Order::Id);
    let own = filter().allowed_for(Actor { admin: true, ..Actor::ANONYMOUS });
    assert!(own.admins && own.any_email);
}
