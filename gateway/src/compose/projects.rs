//! What takes a project's row and its repository together: making and removing one.

use bytes::Bytes;
use db::Tx;
use kernel::{AccessLevel, Actor, Error, Result, Standing, head::Growth, ids::ProjectId};
use org::{
    project::{Project, actions, forks, store::ProjectStore},
    user::User,
};
use repo::{
    git::{
        GitError, RefName, Signature,
        change::{self, ActionKind, Change, FileAction, Start},
        fork,
    },
    lfs::LfsStore,
    push::{Push, RefChange, Via},
};
use tokio::task::spawn_blocking;

use super::{subscribers::protect_default_branch, surveys::survey};
use crate::app::App;

/// The branch of a project that names none.
pub const USUAL_BRANCH: &str = "main";

/// What a new repository is to hold.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// The branch that HEAD names; [`USUAL_BRANCH`] where none is given.
    pub branch: Option<String>,
    /// Who signs a first commit with a README.
    pub readme: Option<User>,
}

impl Beginning {
    pub fn branch(&self) -> &str {
        self.branch.as_deref().unwrap_or(USUAL_BRANCH)
    }
}

/// Gives a new project its repository. A project that cannot have one is taken away again; a caller that goes away
/// changes nothing.
pub async fn begin(app: &App, project: Project, beginning: Beginning) -> Result<Project> {
    let done = actix_web::rt::spawn(settled(app.clone(), project, beginning));
    done.await.map_err(Error::internal)?
}

async fn settled(app: App, project: Project, beginning: Beginning) -> Result<Project> {
    let made = make_repository(&app, &project, &beginning).await;
    match made {
        Ok(()) => app.db.read(move |tx: &mut Tx<'_>| tx.project(project.id)).await,
        Err(cause) => {
            app.db.write(move |tx: &mut Tx<'_>| actions::discard(tx, &project)).await?;
            Err(cause)
        }
    }
}

async fn make_repository(app: &App, project: &Project, beginning: &Beginning) -> Result<()> {
    let branch = beginning.branch();
    let head = RefName::new_branch(branch)
        .map_err(|_cause| Error::invalid("default_branch", "is invalid"))?;
    let (storage, id) = (app.storage.clone(), project.id);
    let made = spawn_blocking(move || storage.create(id, &head)).await.map_err(Error::internal)?;
    made?;
    match &beginning.readme {
        Some(author) => commit_readme(app, project, author, branch).await,
        None => Ok(()),
    }
}

async fn commit_readme(app: &App, project: &Project, author: &User, branch: &str) -> Result<()> {
    const MESSAGE: &str = "Initial commit";
    let mut text = format!("# {}\n", project.name);
    if let Some(description) = project.description.as_ref().filter(|text| !text.is_empty()) {
        text.push_str(&format!("\n{description}\n"));
    }
    let signature = Signature {
        name: author.name.clone(),
        email: author.git_email(app.urls.host_name()),
        at: app.db.clock().now().unix(),
        offset: 0,
    };
    let change = Change {
        branch: branch.to_owned(),
        start: Start::default(),
        force: false,
        actions: vec![FileAction::new(ActionKind::Create, "README.md").content(Bytes::from(text))],
        message: MESSAGE.to_owned(),
        author: signature.clone(),
        committer: signature,
    };
    let repository = app.storage.repository(project.id);
    let commit = change::build(&app.git, &repository, change).await?;
    let plain = RefChange::plain(commit.branch.name.clone(), None, Some(commit.id));
    let first = RefChange { commit_count: 1, commit_title: Some(MESSAGE.to_owned()), ..plain };
    let actor = Actor { id: Some(author.id), ..Actor::ANONYMOUS };
    let facts = project.facts();
    let who = Standing::in_project(actor, AccessLevel::Owner, &facts);
    let push = Push::new(facts.into(), who, Via::Api, vec![first]).by_server();
    app.push(Push { growth: Growth::By(commit.bytes), ..push }).await
}

/// Copies the repository of a source into a new fork. A fork that cannot have it is taken away again.
pub async fn begin_fork(app: &App, made: Project, source: ProjectId) -> Result<Project> {
    let done = actix_web::rt::spawn(settled_fork(app.clone(), made, source));
    done.await.map_err(Error::internal)?
}

async fn settled_fork(app: App, made: Project, source: ProjectId) -> Result<Project> {
    let id = made.id;
    match copy_repository(&app, id, source).await {
        Ok(()) => {
            app.db.write(move |tx: &mut Tx<'_>| finish_fork(tx, id)).await?;
            survey(&app, id).await?;
            app.db.read(move |tx: &mut Tx<'_>| tx.project(id)).await
        }
        Err(cause) => {
            clear_away(&app, made.id).await?;
            app.db.write(move |tx: &mut Tx<'_>| actions::discard(tx, &made)).await?;
            Err(cause)
        }
    }
}

/// The branch came without a push, so nobody else has heard of it.
fn finish_fork(tx: &mut Tx<'_>, id: ProjectId) -> Result<()> {
    let fork = forks::finish(tx, id)?;
    if let Some(source) = fork.forked_from_id {
        tx.share_lfs_objects(source, id)?;
    }
    match fork.default_branch {
        Some(branch) => protect_default_branch(tx, id, &branch),
        None => Ok(()),
    }
}

async fn copy_repository(app: &App, into: ProjectId, from: ProjectId) -> Result<()> {
    let head = RefName::branch(USUAL_BRANCH)?;
    let storage = app.storage.clone();
    let made =
        spawn_blocking(move || storage.create(into, &head)).await.map_err(Error::internal)?;
    fork::copy(&app.git, &app.storage.repository(from), &made?).await?;
    Ok(())
}

/// Moves the repository of a deleted project out of the way.
pub async fn clear_away(app: &App, project: ProjectId) -> Result<()> {
    let app = app.clone();
    let done = spawn_blocking(move || {
        app.repositories.forget(&app.storage.repository(project));
        match app.storage.delete(project) {
            // A project that never had one.
            Err(GitError::NotFound) => Ok(()),
            done => done,
        }
    });
    Ok(done.await.map_err(Error::internal)??)
}
