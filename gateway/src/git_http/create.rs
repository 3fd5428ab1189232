//! A project that does not exist yet, made by the first push to it.

use db::Tx;
use kernel::{
    Actor, Error, Grant, Result, Standing,
    access::{Instance, SignedIn},
};
use org::{
    access::{IdOrPath, locate_project},
    namespace::store::NamespaceStore,
    project::{
        Project,
        actions::{self, Creation},
    },
};

use super::{Refusal, door::Visitor, permit::Place};
use crate::{
    app::App,
    compose::{
        beginnings::promise_repository,
        projects::{Beginning, USUAL_BRANCH, begin},
    },
};

/// Makes a private project, where the visitor may make projects.
pub(super) async fn project(app: &App, visitor: &Visitor, path: &str) -> Result<Place, Refusal> {
    let actor = visitor.actor();
    let (home, name) = path.rsplit_once('/').ok_or(Refusal::NoProject)?;
    let (home, name) = (home.to_owned(), name.to_owned());
    let made = match app.db.write(move |tx| create(tx, actor, &home, name)).await {
        Ok(made) => made,
        // It may not be made; whether the namespace is there is not told.
        Err(Error::NotFound(_) | Error::Invalid(_)) => return Err(Refusal::NoProject),
        Err(Error::LimitReached(text)) => return Err(Refusal::Account(text)),
        Err(other) => return Err(other.into()),
    };
    let made = begin(app, made, Beginning::default()).await?;
    let id = IdOrPath::Id(made.id.0);
    let (project, who) = app.db.read(move |tx| locate_project(tx, actor, &id)).await?;
    Ok(Place::of(app, &project, who))
}

fn create(tx: &mut Tx<'_>, actor: Actor, home: &str, name: String) -> Result<Project> {
    let home = tx.find_namespace_at(home)?.ok_or(Error::NotFound("Namespace"))?;
    let grant: Grant<SignedIn> = Grant::check(&Standing::in_instance(actor), Instance)?;
    let wanted = Creation { namespace: Some(home.id), path: Some(name), ..Creation::default() };
    let project = actions::create(tx, &grant, &wanted)?;
    promise_repository(tx, project.id, USUAL_BRANCH)?;
    Ok(project)
}
