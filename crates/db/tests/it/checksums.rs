//! Sums of refs that are kept move by move, and checksums of files.

use forgeway_db::{
    Tx,
    checksum::{
        failures, files,
        refs::{
            self, RefHolder, RefSum, begin, counts, due, find, note_failure, note_sum, recount,
            toggle,
        },
        waits_beyond,
    },
    testing::{TestDatabase, rows, start, transaction},
};
use kernel::{Result, ids::ProjectId};
use time::Duration;

fn project(tx: &mut Tx<'_>) -> Result<ProjectId> {
    let owner = rows::user(tx, "owner")?;
    let group = rows::group(tx, "group")?;
    rows::project(tx, group, owner, "project")
}

fn sum(byte: u8) -> RefSum {
    let mut digest = [0x9d_u8; 32];
    for (place, one) in (0_u8..).zip(&mut digest) {
        *one = byte.wrapping_mul(place ^ *one);
    }
    RefSum::of_digest(digest)
}

#[test]
fn moves_add_up_whatever_their_bits_are() {
    transaction(|tx| {
        let place = RefHolder::Repository(project(tx)?);
        let mut expected = RefSum::default();
        for byte in 0..=255 {
            expected = expected ^ sum(byte);
            toggle(tx, place, sum(byte))?;
            assert_eq!(find(tx, place)?.unwrap().sum, expected);
        }
        assert_eq!(find(tx, place)?.unwrap().moves, 256);
        Ok(())
    });
}

#[test]
fn a_sum_is_known_from_the_start_or_from_the_first_count() {
    transaction(|tx| {
        let project = project(tx)?;
        let (place, wiki) = (RefHolder::Repository(project), RefHolder::ProjectWiki(project));
        begin(tx, project, start().plus(Duration::hours(1)))?;
        toggle(tx, place, sum(1))?;
        toggle(tx, wiki, sum(2))?;
        assert!(find(tx, place)?.unwrap().counted && !find(tx, wiki)?.unwrap().counted);
        assert_eq!(due(tx, 9)?, [wiki]);

        // A move was decided while the refs were counted.
        assert!(!note_sum(tx, wiki, 0, sum(3), start())?);
        assert!(note_sum(tx, wiki, 1, sum(3), start())?);

        assert_eq!(find(tx, wiki)?.unwrap().sum, sum(3));
        recount(tx, place)?;
        assert!(!find(tx, place)?.unwrap().counted);
        Ok(())
    });
}

#[test]
fn what_failed_is_counted_and_told_with_its_reason_until_it_is_as_it_was() {
    transaction(|tx| {
        let place = RefHolder::Repository(project(tx)?);
        toggle(tx, place, sum(1))?;
        note_failure(tx, place, "It is not there.", start())?;
        files::note(tx, "uploads", "a/1/x", "00", start())?;
        let seen = files::find(tx, "uploads", "a/1/x")?.unwrap();
        files::note_check(tx, &seen, (Some("00"), Some("It is another one.")), start())?;

        let told: Vec<String> = failures(tx, 9)?.into_iter().map(|one| one.reason).collect();
        assert_eq!(told, ["It is not there.", "It is another one."]);
        assert_eq!((counts(tx)?[0].failed, files::counts(tx)?[0].failed), (1, 1));

        note_sum(tx, place, 1, sum(1), start())?;
        files::note(tx, "uploads", "a/1/x", "01", start())?;
        assert!(failures(tx, 9)?.is_empty());
        assert_eq!((counts(tx)?[0].checksummed, files::counts(tx)?[0].checksummed), (1, 1));
        Ok(())
    });
}

#[test]
fn files_that_were_found_are_read_once_and_a_newer_one_is_not_judged_by_the_older() {
    transaction(|tx| {
        let names: Vec<String> = (0..1_200).map(|number| format!("{number}")).collect();
        files::note(tx, "lfs", "7", "07", start().plus(Duration::days(7)))?;
        files::note_found(tx, "lfs", &names)?;
        assert_eq!(files::due(tx, 2_000)?.len(), 1_199);

        let old = files::find(tx, "lfs", "7")?.unwrap();
        files::note(tx, "lfs", "7", "08", start())?;
        files::note_check(tx, &old, (Some("07"), Some("It differs.")), start())?;
        assert_eq!(files::find(tx, "lfs", "7")?.unwrap().failure, None);

        files::forget(tx, "lfs", &names)?;
        assert!(files::counts(tx)?.is_empty());
        Ok(())
    });
}

#[test]
fn what_belongs_to_a_project_goes_with_it() {
    let test = TestDatabase::new();
    let gone = test.db.write_blocking(|tx| {
        let project = project(tx)?;
        toggle(tx, RefHolder::Repository(project), sum(1))?;
        forgeway_db::each_backend!(tx, |conn| {
            use diesel::prelude::*;
            let row = forgeway_db::schema::projects::table.find(project);
            diesel::delete(row).execute(conn).map_err(forgeway_db::error("Project"))
        })?;
        find(tx, RefHolder::Repository(project))
    });
    assert_eq!(gone.unwrap(), None);
}

#[test]
fn what_would_wait_for_too_long_is_checked_sooner() {
    transaction(|tx| {
        let project = project(tx)?;
        let at = |days| start().plus(Duration::days(days));
        begin(tx, project, at(9))?;
        for (name, days) in [("a", 1), ("b", 5), ("c", 9)] {
            files::note(tx, "uploads", name, "00", at(days))?;
        }
        assert!(waits_beyond(tx, at(3))? && !waits_beyond(tx, at(9))?);

        assert_eq!((refs::hasten(tx, at(3), 9)?, files::hasten(tx, at(3), 1)?), (1, 1));
        assert_eq!((refs::hasten(tx, at(3), 9)?, files::hasten(tx, at(3), 9)?), (0, 1));

        assert!(!waits_beyond(tx, at(3))? && waits_beyond(tx, at(2))?);
        Ok(())
    });
}
