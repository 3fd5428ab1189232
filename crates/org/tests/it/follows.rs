//! People who follow each other.

use forgeway_org::{
    follow::actions::{follow, followers, follows, unfollow},
    user::life::block,
};
use kernel::{error::Kind, ids::UserId, page::PageRequest};

use crate::world::{administers, test};

#[test]
fn nobody_follows_themselves_or_somebody_twice() {
    test(|tx, world| {
        let (ada, bob) = (world.ada.id, world.bob.id);
        assert_eq!(follow(tx, ada, ada).unwrap_err().kind, Kind::Unchanged);
        follow(tx, ada, bob)?;
        assert_eq!(follow(tx, ada, bob).unwrap_err().kind, Kind::Unchanged);
        assert!(follows(tx, ada, bob)? && !follows(tx, bob, ada)?);
        Ok(())
    });
}

#[test]
fn following_ends_once() {
    test(|tx, world| {
        let (ada, bob) = (world.ada.id, world.bob.id);
        follow(tx, ada, bob)?;
        unfollow(tx, ada, bob)?;
        assert_eq!(unfollow(tx, ada, bob).unwrap_err().kind, Kind::Unchanged);
        assert!(unfollow(tx, ada, UserId(0)).unwrap_err().is_gone());
        Ok(())
    });
}

#[test]
fn followers_who_are_blocked_are_not_listed() {
    test(|tx, world| {
        follow(tx, world.bob.id, world.ada.id)?;
        assert_eq!(followers(tx, world.ada.id, PageRequest::default())?.items.len(), 1);
        block(tx, &administers(&world.admin), world.bob.id)?;
        assert!(followers(tx, world.ada.id, PageRequest::default())?.items.is_empty());
        Ok(())
    });
}
