//! What was worked out once is not worked out again.

use std::sync::Arc;

use forgeway_repo::{
    commit::{Answers, read::deadline},
    compare::Start,
    testing::Fixture,
};

/// A repository without the commits: whoever still answers has not looked.
#[test]
fn a_comparison_is_kept_by_the_ids_of_its_commits() {
    let (full, empty, answers) = (Fixture::new(), Fixture::empty(), Answers::default());
    let (from, to) = (full.id("main~1"), full.id("main"));

    let first = answers.comparison(&full.reader(), from, to, Start::MergeBase).unwrap();
    let again = answers.comparison(&empty.reader(), from, to, Start::MergeBase).unwrap();

    assert!(Arc::ptr_eq(&first, &again) && !first.commits.is_empty());
    assert!(answers.comparison(&empty.reader(), to, from, Start::MergeBase).is_err());
    assert!(answers.comparison(&empty.reader(), from, to, Start::Straight).is_err());
}

#[test]
fn a_commit_s_changes_are_kept_by_its_id() {
    let (full, empty, answers) = (Fixture::new(), Fixture::empty(), Answers::default());
    let id = full.id("main");

    let first = answers.commit_diff(&full.reader(), id, deadline()).unwrap();

    assert_eq!(*first, *answers.commit_diff(&empty.reader(), id, deadline()).unwrap());
    assert!(answers.commit_diff(&empty.reader(), full.id("main~1"), deadline()).is_err());
}
