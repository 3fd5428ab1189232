//! Making projects: the row together with its picture, then the repository, then a first commit where one is wanted.

use bytes::Bytes;
use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Grant, Result, Standing,
    access::{Administrate, SignedIn},
    head::Growth,
    ids::{ProjectId, UserId},
    task::spawn_blocking,
};
use org::{
    project::{
        Project,
        creation::{self, Creation},
        store::ProjectStore as _,
    },
    settings::store::SettingsStore as _,
    user::{User, store::UserStore as _},
};
use repo::{
    git::{
        NewRepository, RefName,
        change::{self, ActionKind, Change, FileAction, Start},
    },
    push::{Push, PushSource, RefChange},
};

use super::{remove::take_back_after, repository::enqueue_repository};
use crate::{
    Forge,
    commit::author::signature,
    files::{
        Upload,
        avatars::{Owner, stage},
    },
    import::schedule::{import_of_url, schedule},
};

/// The branch of a project that names none.
pub const USUAL_BRANCH: &str = "main";

/// A project as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub creation: Creation,
    /// Whether it begins with a commit that brings a README.
    pub readme: bool,
    pub picture: Option<Upload>,
    /// Where its contents come from, if they come by git.
    pub import_url: Option<String>,
    /// Whether its contents are to come from a template, of which there is none.
    pub from_template: bool,
}

/// Makes a project for the caller, with its repository.
///
/// # Errors
/// `Forbidden` where it is to be filled from a template, or by git where that is switched off; otherwise as [`creation::create`].
pub async fn create(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    author: &User,
    new: NewProject,
) -> Result<Project> {
    let grant = grant.clone();
    make(forge, author, new, move |tx, creation| creation::create(tx, &grant, creation)).await
}

/// Makes a project for somebody else, with its repository.
///
/// # Errors
/// `NotFound` where nobody has that id; otherwise as [`create`].
pub async fn create_for(
    forge: &Forge,
    grant: &Grant<Administrate>,
    owner: UserId,
    new: NewProject,
) -> Result<Project> {
    let author = forge.db.peek(move |tx| tx.user(owner)).await?;
    let grant = grant.clone();
    let write = move |tx: &mut Tx<'_>, creation: &Creation| {
        creation::create_for(tx, &grant, owner, creation)
    };
    make(forge, &author, new, write).await
}

async fn make(
    forge: &Forge,
    author: &User,
    new: NewProject,
    write: impl FnOnce(&mut Tx<'_>, &Creation) -> Result<Project> + Clone + Send + 'static,
) -> Result<Project> {
    let NewProject { mut creation, readme, picture, import_url, from_template } = new;
    if from_template {
        return Err(Error::forbidden().because("import source is disabled"));
    }
    let import = match import_url {
        Some(url) => Some(import_of_url(forge, author, &url).await?),
        None => None,
    };
    // What is fetched brings its own first commit.
    let readme = readme && import.is_none();
    let picture = match picture {
        Some(upload) => Some(stage(forge, upload).await?),
        None => None,
    };
    creation.change.avatar = picture.as_ref().map(|picture| Some(picture.name.clone()));
    let branch = match &creation.change.default_branch {
        Some(branch) => branch.clone(),
        // The installation says how first branches are called, where the caller does not.
        None => forge.db.peek(|tx| tx.settings()).await?.default_branch(),
    };
    let (head, vault) = (branch.clone(), forge.vault.clone());
    let made = forge.db.write(move |tx| {
        let made = write(tx, &creation)?;
        enqueue_repository(tx, made.id, &head)?;
        if let Some(import) = &import {
            schedule(tx, made.id, import, &vault)?;
        }
        if let Some(picture) = picture {
            picture.commit(tx, Owner::Project(made.id))?;
        }
        Ok(made)
    });
    let beginning = InitialContent { branch: Some(branch), readme: readme.then(|| author.clone()) };
    begin(forge, made.await?, beginning).await
}

/// The initial content of a repository.
#[derive(Clone, Debug, Default)]
pub struct InitialContent {
    /// The branch that HEAD names; [`USUAL_BRANCH`] where none is given.
    pub branch: Option<String>,
    /// Who signs a first commit with a README.
    pub readme: Option<User>,
}

impl InitialContent {
    fn branch(&self) -> &str {
        self.branch.as_deref().unwrap_or(USUAL_BRANCH)
    }
}

/// Gives a new project its repository. A project that cannot have one is taken away again; a caller that goes away
/// changes nothing.
pub async fn begin(forge: &Forge, project: Project, beginning: InitialContent) -> Result<Project> {
    let done = db::spawn(settled(forge.clone(), project, beginning));
    done.await.map_err(Error::internal)?
}

async fn settled(forge: Forge, project: Project, beginning: InitialContent) -> Result<Project> {
    let head = RefName::new_branch(beginning.branch())
        .map_err(|_cause| Error::invalid("default_branch", "is invalid"));
    let made = match head {
        Ok(head) => make_repository(&forge, project.id, head).await,
        Err(cause) => Err(cause),
    };
    let made = match made {
        Ok(made) => made,
        Err(cause) => return Err(take_back_after(&forge, &project, None, cause).await),
    };
    let filled = match &beginning.readme {
        Some(author) => commit_readme(&forge, &project, author, beginning.branch()).await,
        None => Ok(()),
    };
    match filled {
        Ok(()) => forge.db.read(move |tx: &mut Tx<'_>| tx.project(project.id)).await,
        Err(cause) => Err(take_back_after(&forge, &project, Some(made), cause).await),
    }
}

pub(super) async fn make_repository(
    forge: &Forge,
    id: ProjectId,
    head: RefName,
) -> Result<NewRepository> {
    let storage = forge.storage.clone();
    let made = spawn_blocking(move || storage.begin(id, &head)).await.map_err(Error::internal)?;
    Ok(made?)
}

async fn commit_readme(
    forge: &Forge,
    project: &Project,
    author: &User,
    branch: &str,
) -> Result<()> {
    const MESSAGE: &str = "Initial commit";
    let mut text = format!("# {}\n", project.name);
    if let Some(description) = project.description.as_ref().filter(|text| !text.is_empty()) {
        text.push_str(&format!("\n{description}\n"));
    }
    let signature = signature(forge, author);
    let change = Change {
        branch: branch.to_owned(),
        start: Start::default(),
        force: false,
        actions: vec![FileAction::new(ActionKind::Create, "README.md").content(Bytes::from(text))],
        message: MESSAGE.to_owned(),
        author: signature.clone(),
        committer: signature,
    };
    let repository = forge.storage.repository(project.id);
    let commit = change::build(&forge.git, &repository, change).await?;
    let plain = RefChange::plain(commit.branch.name.clone(), None, Some(commit.id));
    let first = RefChange { commit_count: 1, commit_title: Some(MESSAGE.to_owned()), ..plain };
    let actor = Actor { id: Some(author.id), ..Actor::ANONYMOUS };
    let facts = project.facts();
    let who = Standing::in_project(actor, AccessLevel::Owner, &facts);
    let push = Push::new(facts.into(), who, PushSource::Api, vec![first]).by_server();
    forge.push(Push { growth: Growth::By(commit.bytes), ..push }).await
}
