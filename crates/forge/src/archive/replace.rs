//! A project out of an archive that takes the place of another one: it has an address of its own until it is whole, so
//! that an import which fails takes nothing away.

use admin::{archive::Address, uuid};
use db::Tx;
use kernel::{
    Grant, Result,
    access::{Actor, SignedIn},
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project},
    namespace::store::NamespaceStore as _,
    policy::{AdminProject, OwnProject},
    project::{ProjectChange, actions, store::ProjectStore as _},
};

/// Whether there is a project with a path in a namespace, which the caller may take away.
///
/// # Errors
/// `Forbidden` where it is somebody else's.
pub(super) fn is_there(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    namespace: NamespaceId,
    path: &str,
) -> Result<bool> {
    let full_path = format!("{}/{path}", tx.namespace(namespace)?.full_path);
    match tx.find_project_at(&full_path)? {
        Some(_) => own(tx, grant.actor(), full_path).map(|_| true),
        None => Ok(false),
    }
}

fn own(tx: &mut Tx<'_>, actor: Actor, full_path: String) -> Result<Grant<OwnProject>> {
    let (facts, who) = locate_project(tx, actor, &IdOrPath::Path(full_path))?;
    Grant::check(&who, facts)
}

/// An address that nobody else has.
pub(super) fn temporary_address(wanted: &Address) -> Address {
    let suffix: String = uuid::new().chars().take(8).collect();
    Address { name: format!("{} {suffix}", wanted.name), path: format!("{}-{suffix}", wanted.path) }
}

/// Takes away the project that has the address, and gives the address to another one.
///
/// # Errors
/// `Forbidden` where it is not the caller's any more.
pub(super) fn take_over(
    tx: &mut Tx<'_>,
    actor: Actor,
    project: ProjectId,
    wanted: &Address,
) -> Result<()> {
    let (facts, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
    let grant = Grant::<AdminProject>::check(&who, facts)?;
    let namespace = tx.project(project)?.namespace_id;
    let full_path = format!("{}/{}", tx.namespace(namespace)?.full_path, wanted.path);
    if tx.find_project_at(&full_path)?.is_some() {
        let old = own(tx, actor, full_path)?;
        actions::delete(tx, &old, None)?;
    }
    let change = ProjectChange {
        name: Some(wanted.name.clone()),
        path: Some(wanted.path.clone()),
        ..ProjectChange::default()
    };
    actions::update(tx, &grant, &change).map(drop)
}
