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
        GitError, Made, RefName, Signature,
        change::{self, ActionKind, Change, FileAction, Start},
        fork,
    },
    lfs::LfsStore,
    push::{Push, RefChange, Via},
};
use review::item::removal::forget_project;
use tokio::task::spawn_blocking;

use super::{
    avatars::{Owner, tidy},
    subscribers::protect_default_branch,
    surveys::survey,
};
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
    let head = RefName::new_branch(beginning.branch())
        .map_err(|_cause| Error::invalid("default_branch", "is invalid"));
    let made = match head {
        Ok(head) => make_repository(&app, project.id, head).await,
        Err(cause) => Err(cause),
    };
    let made = match made {
        Ok(made) => made,
        Err(cause) => return Err(undone(&app, &project, None, cause).await),
    };
    let filled = match &beginning.readme {
        Some(author) => commit_readme(&app, &project, author, beginning.branch()).await,
        None => Ok(()),
    };
    match filled {
        Ok(()) => app.db.read(move |tx: &mut Tx<'_>| tx.project(project.id)).await,
        Err(cause) => Err(undone(&app, &project, Some(made), cause).await),
    }
}

async fn make_repository(app: &App, id: ProjectId, head: RefName) -> Result<Made> {
    let storage = app.storage.clone();
    let made = spawn_blocking(move || storage.begin(id, &head)).await.map_err(Error::internal)?;
    Ok(made?)
}

/// Takes a project away that could not be finished, with the repository that was made for it. One that was there before
/// is not this project's, whatever its place says, and stays.
async fn undone(app: &App, project: &Project, made: Option<Made>, cause: Error) -> Error {
    if let Err(further) = take_back(app, project, made).await {
        tracing::error!(error = %further, project = %project.id, "a project is left half made");
    }
    cause
}

async fn take_back(app: &App, project: &Project, made: Option<Made>) -> Result<()> {
    if let Some(made) = made {
        let (whole, of_it) = (app.clone(), made.path().clone());
        let gone = spawn_blocking(move || {
            whole.repositories.forget(&of_it);
            whole.storage.take_back(made)
        });
        gone.await.map_err(Error::internal)??;
        tidy(app, Owner::Project(project.id), None).await?;
    }
    discard_rows(app, project.clone()).await
}

/// Takes the rows away at once, so that nobody looks for files by their id.
pub async fn discard_rows(app: &App, project: Project) -> Result<()> {
    let gone = move |tx: &mut Tx<'_>| {
        actions::discard(tx, &project)?;
        forget_project(tx, project.id)?;
        actions::purge(tx, project.id)
    };
    app.db.write(gone).await
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
    let empty = match RefName::branch(USUAL_BRANCH) {
        Ok(head) => make_repository(&app, id, head).await,
        Err(cause) => Err(cause.into()),
    };
    let repository = match empty {
        Ok(repository) => repository,
        Err(cause) => return Err(undone(&app, &made, None, cause).await),
    };
    match fork::copy(&app.git, &app.storage.repository(source), repository.path()).await {
        Ok(()) => {
            app.db.write(move |tx: &mut Tx<'_>| finish_fork(tx, id)).await?;
            survey(&app, id).await?;
            app.db.read(move |tx: &mut Tx<'_>| tx.project(id)).await
        }
        Err(cause) => Err(undone(&app, &made, Some(repository), cause.into()).await),
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
