//! Further addresses.

use forgeway_org::email::{
    actions::{Proof, add, begin_confirmation, confirm, remove},
    store::EmailStore as _,
};
use kernel::{Ts, error::Kind};
use time::Duration;

use crate::world::test;

#[test]
fn an_address_belongs_to_one_user() {
    test(|tx, world| {
        let bob = world.bob.id;
        for address in [" ", "nonsense", "ADA@example.com"] {
            let refused = add(tx, bob, address, Proof::Administrator).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{address}");
        }
        add(tx, bob, "bob@home.example", Proof::Administrator)?;
        let again = add(tx, world.ada.id, "Bob@Home.example", Proof::Administrator).unwrap_err();
        assert_eq!(again.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn an_address_is_confirmed_once() {
    test(|tx, world| {
        let id = add(tx, world.bob.id, "bob@home.example", Proof::Letter)?.id;
        let (_, _, secret) = begin_confirmation(tx, id)?.unwrap();
        confirm(tx, &secret)?;
        assert!(tx.find_email(id)?.unwrap().confirmed_at.is_some());
        assert_eq!(confirm(tx, &secret).unwrap_err().kind, Kind::NotFound);
        assert!(begin_confirmation(tx, id)?.is_none());
        Ok(())
    });
}

#[test]
fn only_the_latest_link_works_and_for_three_days() {
    test(|tx, world| {
        let id = add(tx, world.bob.id, "bob@home.example", Proof::Letter)?.id;
        let (_, _, first) = begin_confirmation(tx, id)?.unwrap();
        let (_, _, second) = begin_confirmation(tx, id)?.unwrap();
        assert_eq!(confirm(tx, &first).unwrap_err().kind, Kind::NotFound);
        tx.now = tx.now.plus(Duration::days(3));
        assert_eq!(confirm(tx, &second).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn an_address_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        let bob = world.bob.id;
        let id = add(tx, bob, "bob@home.example", Proof::Administrator)?.id;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = remove(tx, bob, id, Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        assert!(remove(tx, world.ada.id, id, None).is_err(), "it is somebody else's");
        remove(tx, bob, id, None)
    });
}
