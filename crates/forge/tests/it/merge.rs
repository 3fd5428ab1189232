//! Accepting a merge request.

use forgeway_forge::merge_request::merge::{MergeOptions, accept};
use kernel::{Error, Result, error::Kind};
use org::{project::Project, user::User};
use review::{
    issue::IssueState,
    merge_request::{MergeRequest, MergeRequestState, merge::AutoMerge},
};

use crate::scratch::Scratch;

async fn merge(
    scratch: &Scratch,
    user: &User,
    project: &Project,
    iid: i64,
    wish: MergeOptions,
) -> Result<MergeRequest> {
    let grant = scratch.grant(user, project).await?;
    accept(&scratch.forge, &grant, user, iid, wish).await
}

#[tokio::test]
async fn a_merge_moves_the_branch_and_the_row_together() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    let iid = scratch.propose(&ada, &project, "green").await.unwrap().row.iid;

    let merged = merge(&scratch, &ada, &project, iid, MergeOptions::default()).await.unwrap();

    assert_eq!(merged.state, MergeRequestState::Merged);
    let tip = scratch.tip(&project, "main").await.map(|id| id.to_string());
    assert_eq!(merged.merge_commit_sha, tip);
}

#[tokio::test]
async fn what_clashes_is_not_merged() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("tea.md", "Green")).await.unwrap();
    let before = scratch.write(&ada, &project, "main", ("tea.md", "Black")).await.unwrap();
    let iid = scratch.propose(&ada, &project, "green").await.unwrap().row.iid;

    let refused = merge(&scratch, &ada, &project, iid, MergeOptions::default()).await;

    assert!(matches!(refused, Err(Error { kind: Kind::NotAllowed, .. })), "{:?}", refused.err());
    assert_eq!(scratch.tip(&project, "main").await, Some(before));
}

#[tokio::test]
async fn another_head_than_the_one_that_was_seen_is_not_merged() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    let iid = scratch.propose(&ada, &project, "green").await.unwrap().row.iid;
    let how = AutoMerge { sha: Some("0".repeat(40)), ..AutoMerge::default() };

    let refused =
        merge(&scratch, &ada, &project, iid, MergeOptions { how, ..MergeOptions::default() }).await;

    assert!(matches!(refused, Err(Error { kind: Kind::Conflict, .. })), "{:?}", refused.err());
}

#[tokio::test]
async fn a_merge_closes_what_its_description_names() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.issue(&ada, &project, "Too little tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    let made = scratch.propose_with(&ada, &project, "green", "Closes #1").await.unwrap();

    merge(&scratch, &ada, &project, made.row.iid, MergeOptions::default()).await.unwrap();

    assert_eq!(scratch.issue_state(&project, 1).await, IssueState::Closed);
}
