//! A project that does not exist yet, made by the first push to it.

use db::Tx;
use forge::project::{
    create::{Beginning, USUAL_BRANCH, begin},
    remove::clear_away,
    repository::promise_repository,
};
use kernel::{
    Actor, Error, Grant, Result, Standing,
    access::{Instance, SignedIn},
    error::{Kind, Message},
    ids::ProjectId,
};
use org::{
    access::{IdOrPath, locate_project},
    namespace::store::NamespaceStore,
    project::{
        Project,
        actions::{self, Creation},
        store::ProjectStore as _,
    },
};
use repo::push::journal::JournalStore as _;

use super::{Refusal, door::Visitor, permit::Place};
use crate::app::App;

/// Makes a private project, where the visitor may make projects.
pub(super) async fn project(app: &App, visitor: &Visitor, path: &str) -> Result<Place, Refusal> {
    let (actor, home, name) = wanted(visitor, path)?;
    let made = app.db.write(move |tx| create(tx, actor, &home, name)).await.map_err(refusal)?;
    let made = begin(app, made, Beginning::default()).await?;
    let id = IdOrPath::Id(made.id.0);
    let (project, who) = app.db.read(move |tx| locate_project(tx, actor, &id)).await?;
    Ok(Place { made: Some(project.0.id), ..Place::of(app, &project, who) })
}

/// Refuses where the visitor may not make the project, and makes nothing.
pub(super) async fn ensure_possible(
    app: &App,
    visitor: &Visitor,
    path: &str,
) -> Result<(), Refusal> {
    let (actor, home, name) = wanted(visitor, path)?;
    let tried = app.db.write(move |tx| {
        create(tx, actor, &home, name)?;
        // The transaction ends as if nothing had been tried.
        Err::<(), _>(Error::precondition())
    });
    match tried.await {
        Err(Error { kind: Kind::Precondition, .. }) | Ok(()) => Ok(()),
        Err(other) => Err(refusal(other)),
    }
}

/// Takes back a project that was made for a push that then brought nothing.
pub(super) async fn take_back(app: &App, project: ProjectId) -> Result<()> {
    let empty = app.git_read(project, |reader| Ok(reader.all_refs()?.is_empty())).await?;
    let pushed = app.db.read(move |tx| Ok(!tx.push_events(project)?.is_empty())).await?;
    if !empty || pushed {
        return Ok(());
    }
    clear_away(app, project).await?;
    app.db
        .write(move |tx: &mut Tx<'_>| {
            let project = tx.project(project)?;
            actions::discard(tx, &project)
        })
        .await
}

/// Who wants which project, and where.
fn wanted(visitor: &Visitor, path: &str) -> Result<(Actor, String, String), Refusal> {
    let (home, name) = path.rsplit_once('/').ok_or(Refusal::NoProject)?;
    Ok((visitor.actor(), home.to_owned(), name.to_owned()))
}

fn refusal(error: Error) -> Refusal {
    match error {
        // It may not be made; whether the namespace is there is not told.
        Error { kind: Kind::NotFound, .. }
        | Error { kind: Kind::BadRequest, message: Message::Fields(_), .. } => Refusal::NoProject,
        Error { kind: Kind::Forbidden, message: Message::Limit(text), .. } => {
            Refusal::Account(text)
        }
        other => other.into(),
    }
}

fn create(tx: &mut Tx<'_>, actor: Actor, home: &str, name: String) -> Result<Project> {
    let home = tx.find_namespace_at(home)?.ok_or(Error::not_found("Namespace"))?;
    let grant: Grant<SignedIn> = Grant::check(&Standing::in_instance(actor), Instance)?;
    let wanted = Creation { namespace: Some(home.id), path: Some(name), ..Creation::default() };
    let project = actions::create(tx, &grant, &wanted)?;
    promise_repository(tx, project.id, USUAL_BRANCH)?;
    Ok(project)
}
