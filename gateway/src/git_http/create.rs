//! A project that does not exist yet, created by the first push to it.

use forge::project::push_to_create::{create_for_push, ensure_creatable};
use kernel::{
    Actor, Error,
    error::{Kind, Message},
};
use org::access::{IdOrPath, locate_project};

use super::{Refusal, authenticate::Visitor, authorize::AuthorizedRepository};
use crate::app::App;

/// Creates a private project, where the visitor may create projects.
pub(super) async fn project(
    app: &App,
    visitor: &Visitor,
    path: &str,
) -> Result<AuthorizedRepository, Refusal> {
    let (actor, home, name) = request(visitor, path)?;
    let made = create_for_push(app, actor, home, name).await.map_err(refusal)?;
    let id = IdOrPath::Id(made.id.0);
    let (project, who) = app.db.read(move |tx| locate_project(tx, actor, &id)).await?;
    Ok(AuthorizedRepository {
        made: Some(project.0.id),
        ..AuthorizedRepository::of(app, &project, who)
    })
}

/// Refuses where the visitor may not create the project, and creates nothing.
pub(super) async fn ensure_possible(
    app: &App,
    visitor: &Visitor,
    path: &str,
) -> Result<(), Refusal> {
    let (actor, home, name) = request(visitor, path)?;
    ensure_creatable(app, actor, home, name).await.map_err(refusal)
}

/// The caller, the namespace and the name of the project.
fn request(visitor: &Visitor, path: &str) -> Result<(Actor, String, String), Refusal> {
    let (home, name) = path.rsplit_once('/').ok_or(Refusal::NoProject)?;
    Ok((visitor.actor(), home.to_owned(), name.to_owned()))
}

fn refusal(error: Error) -> Refusal {
    match (error.kind, &error.message) {
        // It may not be created; whether the namespace exists is not told.
        (Kind::NotFound, _) | (Kind::BadRequest, Message::Fields(_)) => Refusal::NoProject,
        (Kind::Forbidden, Message::Limit(text)) => Refusal::Account(text.clone()),
        _ => error.into(),
    }
}
