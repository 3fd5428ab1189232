//! Import status for the API.

use admin::import::{Import, ImportFailure, ImportStore as _};
use kernel::{Grant, Result};
use org::{
    policy::ReadProject,
    project::{Project, store::ProjectStore as _},
};

use crate::Forge;

/// A project with its import, and what could not be brought along, also where it comes out of an archive.
#[derive(Clone, Debug)]
pub struct ImportView {
    pub project: Project,
    pub import: Option<Import>,
    pub failures: Vec<ImportFailure>,
}

/// The import of a project.
///
/// # Errors
/// When the database cannot be read.
pub async fn show(forge: &Forge, grant: &Grant<ReadProject>) -> Result<ImportView> {
    let id = grant.project();
    let read = forge.db.read(move |tx| {
        let (project, import) = (tx.project(id)?, tx.find_import(id)?);
        Ok(ImportView { project, import, failures: tx.import_failures(id)? })
    });
    read.await
}
