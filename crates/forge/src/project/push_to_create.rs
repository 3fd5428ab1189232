//! Projects that a first push creates.

use db::Tx;
use kernel::{
    Actor, Error, Grant, Result, Standing,
    access::{Instance, SignedIn},
    error::Kind,
    ids::ProjectId,
};
use org::{
    namespace::store::NamespaceStore as _,
    project::{
        Project, actions,
        creation::{self, Creation},
        store::ProjectStore as _,
    },
};
use repo::push::journal::JournalStore as _;

use super::{
    create::{InitialContent, USUAL_BRANCH, begin},
    remove::clear_away,
    repository::enqueue_repository,
};
use crate::Forge;

/// Creates a private project in the namespace `home`.
///
/// # Errors
/// As [`creation::create`]; `NotFound` where there is no such namespace.
pub async fn create_for_push(
    forge: &Forge,
    actor: Actor,
    home: String,
    name: String,
) -> Result<Project> {
    let made = forge.db.write(move |tx| create(tx, actor, &home, name)).await?;
    begin(forge, made, InitialContent::default()).await
}

/// Refuses where the caller may not create the project, and creates nothing.
///
/// # Errors
/// As [`create_for_push`].
pub async fn ensure_creatable(
    forge: &Forge,
    actor: Actor,
    home: String,
    name: String,
) -> Result<()> {
    let tried = forge.db.write(move |tx| {
        create(tx, actor, &home, name)?;
        // The error rolls the transaction back.
        Err::<(), _>(Error::precondition())
    });
    match tried.await {
        Err(other) if other.kind != Kind::Precondition => Err(other),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes a project that was created for a push which then brought nothing.
pub async fn remove_if_empty(forge: &Forge, project: ProjectId) -> Result<()> {
    let empty = forge.git_read(project, |reader| Ok(reader.all_refs()?.is_empty())).await?;
    let pushed = forge.db.read(move |tx| Ok(!tx.push_events(project)?.is_empty())).await?;
    if !empty || pushed {
        return Ok(());
    }
    clear_away(forge, project).await?;
    forge
        .db
        .write(move |tx: &mut Tx<'_>| {
            let project = tx.project(project)?;
            actions::discard(tx, &project)
        })
        .await
}

fn create(tx: &mut Tx<'_>, actor: Actor, home: &str, name: String) -> Result<Project> {
    let home = tx.find_namespace_at(home)?.ok_or_else(|| Error::not_found("Namespace"))?;
    let grant: Grant<SignedIn> = Grant::check(&Standing::in_instance(actor), Instance)?;
    let new = Creation { namespace: Some(home.id), path: Some(name), ..Creation::default() };
    let project = creation::create(tx, &grant, &new)?;
    enqueue_repository(tx, project.id, USUAL_BRANCH)?;
    Ok(project)
}
