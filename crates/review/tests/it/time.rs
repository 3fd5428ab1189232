//! Time that issues take.

use db::Tx;
use forgeway_review::{
    item::{
        reading::read,
        time::{
            TimeStats,
            actions::{estimate, log, reset_spent, spend, stats},
            timelog::remove,
        },
    },
    note::reading::Activity,
    policy::{ManageIssues, ReadIssues},
};
use kernel::{Grant, Result, error::Kind};
use time::Duration;

use crate::world::{World, test, titled};

fn issue(tx: &mut Tx<'_>, world: &World) -> Result<Grant<ManageIssues>> {
    world.issue(tx, world.owner, titled("Tea"))?;
    world.may(world.reporter)
}

#[test]
fn an_estimate_is_a_span_of_time() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        assert_eq!(estimate(tx, &grant, 1, Some("2h 30m"))?.estimate, 9_000);
        for nonsense in ["soon", "-1h"] {
            let refused = estimate(tx, &grant, 1, Some(nonsense)).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{nonsense}");
        }
        assert_eq!(estimate(tx, &grant, 1, None)?.estimate, 0);
        Ok(())
    });
}

#[test]
fn time_spent_adds_up() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        spend(tx, &grant, 1, "1h", None)?;
        let stats = spend(tx, &grant, 1, "-30m", Some("Too much".to_owned()))?;
        assert_eq!(stats, TimeStats { estimate: 0, spent: 1_800 });
        let notes = world.notes(tx, world.guest, 1, Activity::Activity)?;
        assert_eq!(notes, ["added 1h of time spent", "subtracted 30m of time spent"]);
        Ok(())
    });
}

#[test]
fn no_more_time_is_taken_back_than_was_spent() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        spend(tx, &grant, 1, "1h", None)?;
        assert_eq!(spend(tx, &grant, 1, "-2h", None).unwrap_err().kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_summary_has_at_most_255_characters() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        let long = spend(tx, &grant, 1, "1h", Some("x".repeat(256))).unwrap_err();
        assert_eq!(long.kind, Kind::BadRequest);
        spend(tx, &grant, 1, "1h", Some("x".repeat(255))).map(drop)
    });
}

#[test]
fn resetting_takes_all_time_back_once() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        spend(tx, &grant, 1, "1h", None)?;
        for _ in 0..2 {
            assert_eq!(reset_spent(tx, &grant, 1)?.spent, 0);
        }
        let notes = world.notes(tx, world.guest, 1, Activity::Activity)?;
        assert_eq!(notes, ["added 1h of time spent", "removed time spent"]);
        Ok(())
    });
}

#[test]
fn guests_do_not_note_time() {
    test(|tx, world| {
        issue(tx, world)?;
        assert_eq!(world.may::<ManageIssues>(world.guest).unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn an_entry_is_taken_away_with_its_time_by_its_author_or_a_maintainer() {
    test(|tx, world| {
        let grant = issue(tx, world)?;
        let entry = log(tx, &grant, 1, "1h", (None, Some("Dug".to_owned())))?;
        assert_eq!((entry.time_spent, entry.summary.as_deref()), (3_600, Some("Dug")));
        let later = tx.now.plus(Duration::HOUR);
        let early = log(tx, &grant, 1, "1h", (Some(later), None)).unwrap_err();
        assert_eq!(early.kind, Kind::BadRequest);

        let item = read(tx, &grant, 1)?;
        let guest = world.may::<ReadIssues>(world.guest)?;
        assert_eq!(remove(tx, guest.who(), &item, &entry).unwrap_err().kind, Kind::Forbidden);
        remove(tx, grant.who(), &item, &entry)?;
        assert_eq!(stats(tx, &grant, 1)?.spent, 0);
        Ok(())
    });
}
