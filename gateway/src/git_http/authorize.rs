//! Authorization of git clients: the project or wiki, and whether they may read or push.

use forge::{
    external_authorization::ensure_admitted, job_token::locate_for_job, project::downloads,
};
use kernel::{Ability, Standing, access::Project, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    namespace::downloads::Verdict,
    token::Scope,
};
use repo::{
    git::{RepoPath, service::Service},
    policy::{PushCode, ReadCode},
    protection::fork_push_branches,
};

use super::{Refusal, authenticate::Visitor, create, kind::Kind, wiki};
use crate::app::App;

const READS: [Scope; 4] =
    [Scope::ReadRepository, Scope::WriteRepository, Scope::ReadApi, Scope::Api];
const PUSHES: [Scope; 2] = [Scope::WriteRepository, Scope::Api];

/// A repository that the visitor may use as they asked.
#[derive(Clone, Debug)]
pub(super) struct AuthorizedRepository {
    pub(super) kind: Kind,
    pub(super) path: RepoPath,
    /// Of the project or group that it belongs to.
    pub(super) full_path: String,
    pub(super) who: Standing,
    /// The project, where it was made just now.
    pub(super) made: Option<ProjectId>,
}

impl AuthorizedRepository {
    pub(super) fn of(app: &App, project: &Project, who: Standing) -> Self {
        let (kind, full_path) = (Kind::Code(project.0.id), project.0.full_path.clone());
        Self { kind, path: kind.lies_in(&app.storage), full_path, who, made: None }
    }
}

/// A repository that a visitor may use, or a project that a push creates.
pub(super) enum RepositoryAccess {
    Open(AuthorizedRepository),
    /// A project that is not there, and that the visitor may make with a push.
    ToBeMade {
        path: String,
    },
}

/// As [`find_access`]; a project that is not there is made.
pub(super) async fn enter(
    app: &App,
    visitor: &Visitor,
    path: Option<&str>,
    service: Service,
) -> Result<AuthorizedRepository, Refusal> {
    match find_access(app, visitor, path, service).await? {
        RepositoryAccess::Open(place) => Ok(place),
        RepositoryAccess::ToBeMade { path } => make(app, visitor, &path).await,
    }
}

/// Makes the project of a push, and lets the visitor in.
pub(super) async fn make(
    app: &App,
    visitor: &Visitor,
    path: &str,
) -> Result<AuthorizedRepository, Refusal> {
    let place = create::project(app, visitor, path).await?;
    ensure_usable(app, visitor, &place, Service::ReceivePack).await?;
    Ok(place)
}

pub(super) async fn find_access(
    app: &App,
    visitor: &Visitor,
    path: Option<&str>,
    service: Service,
) -> Result<RepositoryAccess, Refusal> {
    ensure_scope(visitor, service)?;
    if service == Service::ReceivePack && visitor.user.is_none() {
        return Err(Refusal::NoCredential);
    }
    let path = path.ok_or(Refusal::NoSuffix)?;
    let place = match find(app, visitor, path).await? {
        Some(place) => place,
        None if path.ends_with(wiki::SUFFIX) && visitor.job_of.is_none() => {
            return Ok(RepositoryAccess::Open(wiki::enter(app, visitor, path, service).await?));
        }
        // Whoever has not signed in may see it afterwards.
        None if visitor.user.is_none() => return Err(Refusal::NoCredential),
        None if service == Service::UploadPack => return Err(Refusal::NoProject),
        None => {
            create::ensure_possible(app, visitor, path).await?;
            return Ok(RepositoryAccess::ToBeMade { path: path.to_owned() });
        }
    };
    ensure_usable(app, visitor, &place, service).await?;
    Ok(RepositoryAccess::Open(place))
}

async fn ensure_usable(
    app: &App,
    visitor: &Visitor,
    place: &AuthorizedRepository,
    service: Service,
) -> Result<(), Refusal> {
    ensure_allowed(app, visitor, place, service).await?;
    if place.path.as_path().join("HEAD").is_file() { Ok(()) } else { Err(Refusal::NoRepository) }
}

/// Notes a download, where that is counted. One too many ends what the visitor was let in by: their role, or their account.
pub(super) async fn is_one_too_many(
    app: &App,
    visitor: &Visitor,
    place: &AuthorizedRepository,
) -> Result<bool, Refusal> {
    let Kind::Code(project) = place.kind else { return Ok(false) };
    let verdict = downloads::note(app, visitor.actor(), project, &place.full_path).await?;
    Ok(verdict == Verdict::LockedOut)
}

async fn find(
    app: &App,
    visitor: &Visitor,
    path: &str,
) -> Result<Option<AuthorizedRepository>, Refusal> {
    let (actor, path) = (visitor.actor(), IdOrPath::Path(path.to_owned()));
    let job_of = visitor.job_of;
    let found = app.db.peek(move |tx| match job_of {
        Some(from) => locate_for_job(tx, actor, from, &path),
        None => locate_project(tx, actor, &path),
    });
    match found.await {
        Ok((project, who)) => {
            ensure_open(app, visitor, project.0.id).await?;
            Ok(Some(AuthorizedRepository::of(app, &project, who)))
        }
        Err(gone) if gone.is_gone() => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Keeps out whom the service for external authorization keeps out.
pub(super) async fn ensure_open(
    app: &App,
    visitor: &Visitor,
    project: ProjectId,
) -> Result<(), Refusal> {
    match ensure_admitted(&app.forge, visitor.actor(), project).await {
        Err(gone) if gone.is_gone() && visitor.user.is_none() => Err(Refusal::NoCredential),
        Err(gone) if gone.is_gone() => Err(Refusal::NoProject),
        other => Ok(other?),
    }
}

pub(super) fn ensure_scope(visitor: &Visitor, service: Service) -> Result<(), Refusal> {
    let Some(scopes) = &visitor.scopes else { return Ok(()) };
    let (enough, named): (&[Scope], _) = match service {
        Service::UploadPack => (&READS, "read_repository"),
        Service::ReceivePack => (&PUSHES, "write_repository"),
    };
    let reaches = enough.iter().any(|scope| scopes.has(*scope));
    if reaches { Ok(()) } else { Err(Refusal::Scope(named)) }
}

async fn ensure_allowed(
    app: &App,
    visitor: &Visitor,
    place: &AuthorizedRepository,
    service: Service,
) -> Result<(), Refusal> {
    let who = &place.who;
    match service {
        _ if !ReadCode::allows(who) && visitor.user.is_none() => Err(Refusal::NoCredential),
        _ if !ReadCode::allows(who) => Err(Refusal::MayNotRead),
        Service::UploadPack => Ok(()),
        Service::ReceivePack if who.archived => Err(Refusal::Archived),
        Service::ReceivePack if PushCode::allows(who) || is_lent_any(app, place).await? => Ok(()),
        Service::ReceivePack => Err(Refusal::MayNotPush),
    }
}

/// Whether somebody may push to some branch although they may not push to the project.
async fn is_lent_any(app: &App, place: &AuthorizedRepository) -> Result<bool, Refusal> {
    let Kind::Code(project) = place.kind else { return Ok(false) };
    let (who, fork_push_access) = (place.who, app.fork_push_access.clone());
    Ok(!app
        .db
        .peek(move |tx| fork_push_branches(tx, &*fork_push_access, &who, project))
        .await?
        .is_empty())
}
