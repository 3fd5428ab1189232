//! Answers that are kept for as long as what they follow from stays.

use std::sync::atomic::{AtomicI64, Ordering};

use db::{
    stamp::{StampedCache, renew_stamp},
    testing::TestDatabase,
};
use kernel::Result;

fn ask(test: &TestDatabase, question: &'static str) -> Result<i64> {
    static NUMBERS: StampedCache<i64> = StampedCache::new();
    static ASKED: AtomicI64 = AtomicI64::new(0);
    test.db.read_blocking(|tx| {
        let subjects = ["groups".to_owned(), "user 1".to_owned()];
        NUMBERS.answer(tx, question, &subjects, |_| Ok(ASKED.fetch_add(1, Ordering::Relaxed) + 1))
    })
}

#[test]
fn an_answer_is_worked_out_again_when_what_it_follows_from_has_changed() -> Result<()> {
    let test = TestDatabase::new();
    let change = |subject: &str| {
        let subjects = [subject.to_owned()];
        test.db.write_blocking(move |tx| renew_stamp(tx, &subjects))
    };
    assert_eq!([ask(&test, "how many?")?, ask(&test, "how many?")?], [1, 1]);
    assert_eq!(ask(&test, "how large?")?, 2);
    change("user 1")?;
    assert_eq!(ask(&test, "how many?")?, 3);
    change("groups")?;
    assert_eq!([ask(&test, "how many?")?, ask(&test, "how many?")?], [4, 4]);
    change("user 2")?;
    assert_eq!(ask(&test, "how many?")?, 4, "somebody else changed");
    Ok(())
}
