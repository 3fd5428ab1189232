//! Creating merge requests.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Error, Visibility,
    access::FeatureAccess,
    error::{Kind, Message},
};
use org::{
    project::{FeatureChange, Project, ProjectChange},
    user::User,
};
use review::merge_request::{MergeStatus, merge::ClosesStore as _};

use crate::scratch::Scratch;

/// A project of somebody's with a branch `green` that is one commit ahead of `main`.
async fn set_up() -> (Scratch, User, Project) {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    (scratch, ada, project)
}

#[tokio::test]
async fn git_was_asked_when_a_merge_request_is_there() {
    let (scratch, ada, project) = set_up().await;

    let made = scratch.propose(&ada, &project, "green").await.unwrap();

    let head = scratch.tip(&project, "green").await.map(|id| id.to_string());
    assert_eq!(made.row.head_sha, head);
    assert_eq!(made.row.merge_status, MergeStatus::CanBeMerged);
}

#[tokio::test]
async fn a_conflict_is_known_at_once() {
    let (scratch, ada, project) = set_up().await;
    scratch.write(&ada, &project, "main", ("green.md", "Black")).await.unwrap();

    let made = scratch.propose(&ada, &project, "green").await.unwrap();

    assert_eq!(made.row.merge_status, MergeStatus::CannotBeMerged);
}

#[tokio::test]
async fn a_branch_is_proposed_once() {
    let (scratch, ada, project) = set_up().await;
    scratch.propose(&ada, &project, "green").await.unwrap();

    let again = scratch.propose(&ada, &project, "green").await;

    let refused = again.expect_err("a refusal");
    assert_eq!(refused.kind, Kind::Conflict);
    assert!(matches!(refused.message, Message::Sentences(_)), "{refused:?}");
}

#[tokio::test]
async fn a_branch_is_not_proposed_to_itself() {
    let (scratch, ada, project) = set_up().await;

    let refused = scratch.propose(&ada, &project, "main").await;

    assert_eq!(refused.err().map(|refused| refused.kind), Some(Kind::Unprocessable));
}

#[tokio::test]
async fn a_branch_that_does_not_exist_is_proposed_without_commits() {
    let (scratch, ada, project) = set_up().await;

    let made = scratch.propose(&ada, &project, "later").await.unwrap().row;

    assert_eq!((made.head_sha, made.changes_count), (None, None));
    assert_eq!(made.merge_status, MergeStatus::CannotBeMerged);
}

#[tokio::test]
async fn a_project_outside_of_the_fork_network_is_no_target() {
    let (scratch, ada, project) = set_up().await;
    let other = scratch.project(&ada, "coffee").await;

    let refused = scratch.propose_draft(&ada, &project, Scratch::draft(&other, "green")).await;

    assert_eq!(refused.err().map(|refused| refused.kind), Some(Kind::Unprocessable));
}

#[tokio::test]
async fn a_fork_proposes_to_its_source_which_keeps_the_commits() {
    let (scratch, ada, project) = set_up().await;
    let public = ProjectChange { visibility: Some(Visibility::Public), ..ProjectChange::default() };
    scratch.change(&ada, &project, public).await;
    let bob = scratch.person("bob").await;
    let fork = scratch.fork(&bob, &project).await;
    let head = scratch.write(&bob, &fork, "black", ("black.md", "Black")).await.unwrap();

    let made = scratch.propose_draft(&bob, &fork, Scratch::draft(&project, "black")).await.unwrap();

    assert_eq!((made.row.source_project_id, made.row.project_id), (Some(fork.id), project.id));
    let kept = scratch.forge.git_read(project.id, move |reader| Ok(reader.commit(head)?.id));
    assert_eq!(kept.await.unwrap(), head);
}

#[tokio::test]
async fn reporters_may_not_propose_and_developers_may() {
    let (scratch, _, project) = set_up().await;
    let rita = scratch.member(&project, "rita", Reporter).await;
    let dora = scratch.member(&project, "dora", Developer).await;

    let refused = scratch.propose(&rita, &project, "green").await;

    assert_eq!(refused.err().map(|refused| refused.kind), Some(Kind::Forbidden));
    assert_eq!(scratch.propose(&dora, &project, "green").await.unwrap().row.author_id, dora.id);
}

#[tokio::test]
async fn strangers_do_not_learn_of_a_private_project() {
    let (scratch, _, project) = set_up().await;
    let eve = scratch.person("eve").await;

    let refused = scratch.propose(&eve, &project, "green").await;

    assert_eq!(refused.err().map(|refused| refused.kind), Some(Kind::NotFound));
}

#[tokio::test]
async fn a_target_that_disabled_merge_requests_takes_none() {
    let (scratch, ada, project) = set_up().await;
    let fork = scratch.project(&ada, "coffee").await;
    let merge_requests = Some(FeatureAccess::Disabled);
    let features = FeatureChange { merge_requests, ..FeatureChange::default() };
    scratch.change(&ada, &fork, ProjectChange { features, ..ProjectChange::default() }).await;

    let refused = scratch.propose_draft(&ada, &project, Scratch::draft(&fork, "green")).await;

    let text = refused.err().map(Error::into_message);
    assert!(
        matches!(&text, Some(Message::Sentences(texts)) if texts.iter().any(|text| text.contains("disabled"))),
        "{text:?}"
    );
}

#[tokio::test]
async fn a_title_is_neither_blank_nor_longer_than_its_column() {
    let (scratch, ada, project) = set_up().await;

    for title in [" ".to_owned(), "x".repeat(256)] {
        let mut draft = Scratch::draft(&project, "green");
        draft.attributes.title = title;
        let refused = scratch.propose_draft(&ada, &project, draft).await;
        let refused = refused.expect_err("a refusal");
        assert!(refused.is_invalid(), "{refused:?}");
    }
}

#[tokio::test]
async fn a_title_may_mark_a_draft() {
    let (scratch, ada, project) = set_up().await;
    let mut draft = Scratch::draft(&project, "green");
    draft.attributes.title = "Draft: Tea".to_owned();

    let made = scratch.propose_draft(&ada, &project, draft).await.unwrap();

    assert!(made.row.draft);
}

#[tokio::test]
async fn quick_actions_of_the_description_are_run_and_not_stored() {
    let (scratch, ada, project) = set_up().await;

    let made = scratch.propose_with(&ada, &project, "green", "Hot\n\n/title Green tea").await;

    let row = made.unwrap().row;
    assert_eq!(row.title, "Green tea");
    assert_eq!(row.description.as_deref().map(str::trim_end), Some("Hot"));
}

#[tokio::test]
async fn issues_that_the_description_closes_are_recorded() {
    let (scratch, ada, project) = set_up().await;
    scratch.issue(&ada, &project, "Too little tea").await;
    scratch.issue(&ada, &project, "Too much tea").await;

    let made = scratch.propose_with(&ada, &project, "green", "Closes #1, see #2").await.unwrap();

    let id = made.row.id;
    let closed = scratch.db().read(move |tx| tx.closed_issues(id)).await.unwrap();
    assert_eq!(closed.iter().map(|issue| issue.iid).collect::<Vec<_>>(), [1]);
}
