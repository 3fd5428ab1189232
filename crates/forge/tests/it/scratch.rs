//! A forge of its own for each test, with people, projects and branches.

use std::{ffi::OsString, sync::Arc};

use db::{
    Database, Tx,
    testing::{DatabaseCopy, start},
};
use forgeway_forge::{
    Forge, Settings, commit,
    merge_request::create::{CreatedMergeRequest, MergeRequestDraft, create_merge_request},
    ports::directory::Directory,
    project::{
        self,
        create::{self, NewProject},
    },
};
use kernel::{
    Ability, AccessLevel, Clock, Grant, Result, Standing,
    access::{Instance, Project as Scope, SignedIn},
};
use org::{
    access::{IdOrPath, locate_project},
    member::{NewMember, Source},
    project::{Project, ProjectChange, SettingsChange, creation::Creation, forks::Fork},
    user::{User, actions::NewUser},
};
use repo::git::{
    CommitInfo, Git, Oid, RefName,
    change::{ActionKind, Change, FileAction, Start, StartAt},
    cli,
};
use review::{
    issue::{self, IssueState, IssueStore as _, actions::NewIssue},
    merge_request::actions::NewMergeRequest,
};
use signatures::TrustedRoots;

pub(crate) struct Scratch {
    pub(crate) forge: Forge,
    _database: DatabaseCopy,
    _data: tempfile::TempDir,
}

impl Scratch {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(Clock::fixed(start()));
        let database = DatabaseCopy::new();
        let data = tempfile::tempdir().unwrap();
        let settings = Settings {
            data: data.path().to_owned(),
            database: database.location.clone(),
            external_url: "http://forge.test".to_owned(),
            revision: "0123abcd".to_owned(),
            mail: None,
            roots: TrustedRoots::default(),
            inner_networks: org::namespace::Networks::default(),
            relays: forgeway_forge::Relays::default(),
            contents: forgeway_forge::ContentStorage::default(),
            geo: forgeway_forge::geo::GeoSettings::default(),
        };
        let git = Git::find(cli::Settings::new(OsString::from("/usr/local/bin:/usr/bin:/bin")));
        let git = git.await.unwrap();
        let forge = Forge::open(&settings, clock, git).unwrap();
        Self { forge, _database: database, _data: data }
    }

    pub(crate) fn db(&self) -> &Database {
        &self.forge.db
    }

    pub(crate) async fn person(&self, name: &'static str) -> User {
        let made = move |tx: &mut Tx<'_>| org::user::actions::create(tx, &NewUser::named(name));
        self.db().write(made).await.unwrap()
    }

    pub(crate) async fn administrator(&self) -> User {
        let new = NewUser { admin: true, ..NewUser::named("root") };
        self.db().write(move |tx| org::user::actions::create(tx, &new)).await.unwrap()
    }

    /// A person with a role in a project.
    pub(crate) async fn member(
        &self,
        project: &Project,
        name: &'static str,
        access_level: AccessLevel,
    ) -> User {
        let user = self.person(name).await;
        let (source, user_id) = (Source::Project(project.id), user.id);
        let new = NewMember { source, user_id, access_level, expires_at: None, created_by: None };
        self.db().write(move |tx| org::member::steps::insert(tx, &new)).await.unwrap();
        user
    }

    /// What somebody may do in the installation.
    pub(crate) fn signed_in(user: &User) -> Grant<SignedIn> {
        Grant::check(&Standing::in_instance(user.actor()), Instance).unwrap()
    }

    /// What somebody may do in a project.
    pub(crate) async fn grant<A>(&self, user: &User, project: &Project) -> Result<Grant<A>>
    where
        A: Ability<Scope = Scope>,
    {
        let (actor, id) = (user.actor(), IdOrPath::Id(project.id.0));
        let (facts, who) = self.db().read(move |tx| locate_project(tx, actor, &id)).await?;
        Grant::check(&who, facts)
    }

    /// A project of somebody's, which begins with a README on `main`.
    pub(crate) async fn project(&self, owner: &User, path: &str) -> Project {
        let creation = Creation { path: Some(path.to_owned()), ..Creation::default() };
        let new = NewProject { creation, readme: true, ..NewProject::default() };
        create::create(&self.forge, &Self::signed_in(owner), owner, new).await.unwrap()
    }

    /// Changes a project as its owner.
    pub(crate) async fn change(&self, owner: &User, project: &Project, change: ProjectChange) {
        let grant = self.grant(owner, project).await.unwrap();
        project::update::update(&self.forge, &grant, change, None).await.unwrap();
    }

    /// Changes the settings of a project as its owner.
    pub(crate) async fn configure(
        &self,
        owner: &User,
        project: &Project,
        settings: SettingsChange,
    ) {
        self.change(owner, project, ProjectChange { settings, ..ProjectChange::default() }).await;
    }

    pub(crate) async fn fork(&self, user: &User, project: &Project) -> Project {
        let grant = self.grant(user, project).await.unwrap();
        project::fork::create(&self.forge, &grant, None, Fork::default()).await.unwrap()
    }

    /// Writes a file to a branch; one that is not there begins at `main`.
    pub(crate) async fn write(
        &self,
        user: &User,
        project: &Project,
        branch: &str,
        (path, text): (&str, &'static str),
    ) -> Result<Oid> {
        let grant = self.grant(user, project).await?;
        let is_new = self.tip(project, branch).await.is_none();
        let author = commit::author::signature(&self.forge, user);
        let change = Change {
            branch: branch.to_owned(),
            start: Start {
                at: is_new.then(|| StartAt::Branch("main".to_owned())),
                repository: None,
            },
            force: false,
            actions: vec![FileAction::new(ActionKind::Create, path).content(text)],
            message: format!("Write {path}"),
            author: author.clone(),
            committer: author,
        };
        commit::create::create(&self.forge, &grant, change, None).await
    }

    /// Where a branch is.
    pub(crate) async fn tip(&self, project: &Project, branch: &str) -> Option<Oid> {
        let name = RefName::branch(branch).unwrap();
        let read = self.forge.git_read(project.id, move |reader| {
            Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
        });
        read.await.unwrap()
    }

    /// The newest commit of a branch.
    pub(crate) async fn newest(&self, project: &Project, branch: &str) -> CommitInfo {
        let id = self.tip(project, branch).await.unwrap();
        let read = self.forge.git_read(project.id, move |reader| Ok(reader.commit(id)?));
        read.await.unwrap()
    }

    /// Proposes a branch for `main`.
    pub(crate) async fn propose(
        &self,
        user: &User,
        project: &Project,
        branch: &str,
    ) -> Result<CreatedMergeRequest> {
        self.propose_with(user, project, branch, "").await
    }

    /// As [`propose`](Self::propose), with a description.
    pub(crate) async fn propose_with(
        &self,
        user: &User,
        project: &Project,
        branch: &str,
        description: &str,
    ) -> Result<CreatedMergeRequest> {
        let mut draft = Self::draft(project, branch);
        draft.attributes.description = Some(description.to_owned());
        self.propose_draft(user, project, draft).await
    }

    /// A merge request called "Tea" from a branch to `main` of a project.
    pub(crate) fn draft(target: &Project, branch: &str) -> MergeRequestDraft {
        MergeRequestDraft {
            source_branch: branch.to_owned(),
            target: target.id,
            target_branch: "main".to_owned(),
            attributes: NewMergeRequest { title: "Tea".to_owned(), ..NewMergeRequest::default() },
        }
    }

    /// Creates a merge request from a branch of a project.
    pub(crate) async fn propose_draft(
        &self,
        user: &User,
        source: &Project,
        draft: MergeRequestDraft,
    ) -> Result<CreatedMergeRequest> {
        let grant = self.grant(user, source).await?;
        create_merge_request(&self.forge, &grant, user, draft).await
    }

    pub(crate) async fn issue(&self, user: &User, project: &Project, title: &'static str) {
        let grant = self.grant(user, project).await.unwrap();
        let directory = Directory::new(&self.forge.urls);
        let new = NewIssue { title: title.to_owned(), ..NewIssue::default() };
        let made = move |tx: &mut Tx<'_>| issue::actions::create(tx, &grant, &directory, new);
        self.db().write(made).await.unwrap();
    }

    pub(crate) async fn issue_state(&self, project: &Project, iid: i64) -> IssueState {
        let project = project.id;
        let found = self.db().read(move |tx| tx.find_issue(project, iid)).await.unwrap();
        found.unwrap().state
    }
}
