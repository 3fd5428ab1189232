//! Creating projects.

use forgeway_forge::project::create::{self, NewProject};
use kernel::{
    AccessLevel::Guest,
    Grant, Result, Standing, Visibility,
    access::Instance,
    error::Kind,
    ids::{NamespaceId, UserId},
};
use org::{
    namespace::store::NamespaceStore as _,
    policy::AdminProject,
    project::{
        Project, ProjectChange, SettingsChange,
        creation::Creation,
        settings::{MergeMethod, SettingsStore as _},
        store::ProjectStore as _,
    },
    user::User,
};
use repo::protection::BranchRuleStore as _;

use crate::scratch::Scratch;

/// A project at a path, with a README where that is wanted.
fn at(path: &str, readme: bool) -> NewProject {
    let creation = Creation { path: Some(path.to_owned()), ..Creation::default() };
    NewProject { creation, readme, ..NewProject::default() }
}

async fn create_by(scratch: &Scratch, user: &User, new: NewProject) -> Result<Project> {
    create::create(&scratch.forge, &Scratch::signed_in(user), user, new).await
}

/// The fields that a refusal names; none for a project that was created.
fn fields(made: Result<Project>) -> Vec<String> {
    let told = made.err().and_then(|refused| refused.into_fields().ok());
    told.unwrap_or_default().into_iter().map(|(field, _)| field).collect()
}

#[tokio::test]
async fn a_project_has_its_first_commit_when_it_is_made() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let project = create_by(&scratch, &ada, at("tea", true)).await.unwrap();

    assert_eq!(project.default_branch.as_deref(), Some("main"));
    assert_eq!(scratch.newest(&project, "main").await.title, "Initial commit");
}

#[tokio::test]
async fn a_project_without_a_readme_has_an_empty_repository() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let project = create_by(&scratch, &ada, at("tea", false)).await.unwrap();

    assert!(scratch.tip(&project, "main").await.is_none());
}

#[tokio::test]
async fn the_caller_names_the_first_branch() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let mut new = at("tea", true);
    new.creation.change.default_branch = Some("trunk".to_owned());

    let project = create_by(&scratch, &ada, new).await.unwrap();

    assert_eq!(project.default_branch.as_deref(), Some("trunk"));
    assert!(scratch.tip(&project, "main").await.is_none());
}

#[tokio::test]
async fn the_first_branch_is_protected() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let id = create_by(&scratch, &ada, at("tea", true)).await.unwrap().id;

    let rule = scratch.db().read(move |tx| tx.find_branch_rule(id, "main")).await.unwrap();
    assert!(rule.is_some());
}

#[tokio::test]
async fn a_project_whose_repository_cannot_be_made_leaves_nothing_behind() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let mut new = at("tea", false);
    new.creation.change.default_branch = Some("no..name".to_owned());

    let made = create_by(&scratch, &ada, new).await;

    assert_eq!(fields(made), ["default_branch"]);
    let found = scratch.db().read(|tx| tx.find_project_at("ada/tea")).await.unwrap();
    assert!(found.is_none());
}

#[tokio::test]
async fn no_project_is_made_from_a_template() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let made =
        create_by(&scratch, &ada, NewProject { from_template: true, ..at("tea", false) }).await;

    assert!(made.as_ref().is_err_and(|refused| refused.has_reason(Kind::Forbidden)), "{made:?}");
}

#[tokio::test]
async fn the_path_follows_from_the_name() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let creation = Creation { name: Some("Green Tea".to_owned()), ..Creation::default() };

    let made = create_by(&scratch, &ada, NewProject { creation, ..NewProject::default() }).await;

    assert_eq!(made.unwrap().full_path, "ada/green-tea");
}

#[tokio::test]
async fn a_path_is_taken_once() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    create_by(&scratch, &ada, at("tea", false)).await.unwrap();

    let again = create_by(&scratch, &ada, at("tea", false)).await;

    assert_eq!(fields(again), ["project_namespace.name", "name", "path"]);
}

#[tokio::test]
async fn what_is_no_path_is_refused() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    for path in ["-tea", "tea.git", "a/b"] {
        let refused = fields(create_by(&scratch, &ada, at(path, false)).await);
        assert!(refused.contains(&"path".to_owned()), "{path}: {refused:?}");
    }
}

#[tokio::test]
async fn nobody_fills_the_namespace_of_somebody_else() {
    let scratch = Scratch::new().await;
    let (ada, bob) = (scratch.person("ada").await, scratch.person("bob").await);
    let home = scratch.db().read(move |tx| tx.personal_namespace(bob.id)).await.unwrap();

    for namespace in [home.unwrap().id, NamespaceId(999)] {
        let mut new = at("tea", false);
        new.creation.namespace = Some(namespace);
        assert_eq!(fields(create_by(&scratch, &ada, new).await), ["namespace"]);
    }
}

#[tokio::test]
async fn a_project_is_private_and_its_creator_owns_it() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;

    let project = create_by(&scratch, &ada, at("tea", false)).await.unwrap();

    assert_eq!(project.visibility, Visibility::Private);
    let owner: Result<Grant<AdminProject>> = scratch.grant(&ada, &project).await;
    assert!(owner.is_ok());
    let guest = scratch.member(&project, "gus", Guest).await;
    let refused: Result<Grant<AdminProject>> = scratch.grant(&guest, &project).await;
    assert_eq!(refused.err().map(|refused| refused.kind), Some(Kind::Forbidden));
}

#[tokio::test]
async fn settings_of_the_request_are_stored() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let settings = SettingsChange {
        merge_method: Some(MergeMethod::FastForward),
        ..SettingsChange::default()
    };
    let mut new = at("tea", false);
    new.creation.change = ProjectChange { settings, ..ProjectChange::default() };

    let id = create_by(&scratch, &ada, new).await.unwrap().id;

    let stored = scratch.db().read(move |tx| tx.project_settings(id)).await.unwrap();
    assert_eq!(stored.merge_method, MergeMethod::FastForward);
}

#[tokio::test]
async fn administrators_create_projects_for_others() {
    let scratch = Scratch::new().await;
    let (root, ada) = (scratch.administrator().await, scratch.person("ada").await);
    let grant = Grant::check(&Standing::in_instance(root.actor()), Instance).unwrap();

    let made = create::create_for(&scratch.forge, &grant, ada.id, at("gift", true)).await.unwrap();
    let nobody = create::create_for(&scratch.forge, &grant, UserId(999), at("gift", true)).await;

    assert_eq!(made.full_path, "ada/gift");
    assert_eq!(scratch.newest(&made, "main").await.author.name, "ada");
    assert_eq!(nobody.err().map(|refused| refused.kind), Some(Kind::NotFound));
}
