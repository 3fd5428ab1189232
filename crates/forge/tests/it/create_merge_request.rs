//! Proposing a branch.

use kernel::{
    Error,
    error::{Kind, Message},
};
use review::merge_request::MergeStatus;

use crate::scratch::Scratch;

#[tokio::test]
async fn git_was_asked_when_a_merge_request_is_there() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    let head = scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();

    let made = scratch.propose(&ada, &project, "green").await.unwrap();

    assert_eq!(made.row.head_sha, Some(head.to_string()));
    assert_eq!(made.row.merge_status, MergeStatus::CanBeMerged);
}

#[tokio::test]
async fn a_conflict_is_known_at_once() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("tea.md", "Green")).await.unwrap();
    scratch.write(&ada, &project, "main", ("tea.md", "Black")).await.unwrap();

    let made = scratch.propose(&ada, &project, "green").await.unwrap();

    assert_eq!(made.row.merge_status, MergeStatus::CannotBeMerged);
}

#[tokio::test]
async fn a_branch_is_proposed_once() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    scratch.propose(&ada, &project, "green").await.unwrap();

    let again = scratch.propose(&ada, &project, "green").await;

    assert!(
        matches!(again, Err(Error { kind: Kind::Conflict, message: Message::Sentences(_), .. })),
        "{:?}",
        again.err()
    );
}
