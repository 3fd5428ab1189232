//! Making a project.

use forgeway_forge::project::create::{self, NewProject};
use kernel::{
    Error,
    error::{Kind, Message},
};
use org::project::{ProjectChange, actions::Creation, store::ProjectStore as _};

use crate::scratch::Scratch;

#[tokio::test]
async fn a_project_has_its_first_commit_when_it_is_made() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let project = scratch.project(&ada, "tea").await;

    assert_eq!(project.default_branch.as_deref(), Some("main"));
    assert!(scratch.tip(&project, "main").await.is_some());
}

#[tokio::test]
async fn a_project_whose_repository_cannot_be_made_leaves_nothing_behind() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let change =
        ProjectChange { default_branch: Some("no..name".to_owned()), ..ProjectChange::default() };
    let creation = Creation { path: Some("tea".to_owned()), change, ..Creation::default() };
    let new = NewProject { creation, ..NewProject::default() };

    let made = create::create(&scratch.forge, &Scratch::signed_in(&ada), &ada, new).await;

    assert!(
        matches!(made, Err(Error { kind: Kind::BadRequest, message: Message::Fields(_), .. })),
        "{made:?}"
    );
    let found = scratch.db().read(|tx| tx.find_project_at("ada/tea")).await.unwrap();
    assert!(found.is_none());
}

#[tokio::test]
async fn no_project_is_made_from_a_template() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let creation = Creation { path: Some("tea".to_owned()), ..Creation::default() };
    let new = NewProject { creation, from_template: true, ..NewProject::default() };

    let made = create::create(&scratch.forge, &Scratch::signed_in(&ada), &ada, new).await;

    assert!(
        matches!(made, Err(Error { kind: Kind::Forbidden, message: Message::Reason(_), .. })),
        "{made:?}"
    );
}
