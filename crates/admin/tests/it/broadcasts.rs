//! Broadcast messages.

use admin::broadcast::actions::{BroadcastChange, create, remove, update};
use kernel::error::Kind;
use time::Duration;

use crate::world::test;

fn saying(text: &str) -> BroadcastChange {
    BroadcastChange { message: Some(text.to_owned()), ..BroadcastChange::default() }
}

#[test]
fn a_message_lasts_an_hour_unless_it_says_otherwise() {
    test(|tx, world| {
        let made = create(tx, &world.administers(), saying("Tea"))?;
        assert_eq!(made.ends_at, made.starts_at.plus(Duration::hours(1)));
        let longer = BroadcastChange {
            ends_at: Some(made.starts_at.plus(Duration::days(1))),
            ..BroadcastChange::default()
        };
        assert_eq!(update(tx, &world.administers(), made.id, longer)?.message, "Tea");
        Ok(())
    });
}

#[test]
fn empty_messages_odd_colours_and_ends_before_the_start_are_refused() {
    test(|tx, world| {
        let early = tx.now.plus(-Duration::hours(1));
        for change in [
            saying(" "),
            BroadcastChange { color: Some("url(x)".to_owned()), ..saying("Tea") },
            BroadcastChange { ends_at: Some(early), ..saying("Tea") },
        ] {
            let text = format!("{change:?}");
            let refused = create(tx, &world.administers(), change).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{text}");
        }
        Ok(())
    });
}

#[test]
fn a_message_that_was_removed_is_gone() {
    test(|tx, world| {
        let made = create(tx, &world.administers(), saying("Tea"))?;
        assert_eq!(remove(tx, &world.administers(), made.id)?.message, "Tea");
        assert!(remove(tx, &world.administers(), made.id).is_err());
        Ok(())
    });
}
