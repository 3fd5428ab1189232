//! Templates of issues, as files of a project, of which one may end the text of incidents.

use std::sync::Arc;

use kernel::{Error, Result, access::ProjectFacts, ids::ProjectId};
use org::project::store::ProjectStore as _;
use repo::{
    commit::read::default_head,
    git::{EntryKind, GitError, Reader, TreePath},
};

use crate::Forge;

const FOLDER: &str = ".gitlab/issue_templates";
/// Bytes of a template.
const LARGEST: u64 = 100 << 10;
const FIELD: &str = "issue_template_key";

/// Refuses the name of a template that is not there.
///
/// # Errors
/// `BadRequest` about the field.
pub async fn ensure(forge: &Forge, project: Arc<ProjectFacts>, key: &str) -> Result<()> {
    match read(forge, project, key.to_owned()).await? {
        Some(_) => Ok(()),
        None => Err(Error::invalid(FIELD, "not found")),
    }
}

/// The text of a template at the default branch of a project; nothing where there is none by now.
pub(super) async fn find(forge: &Forge, project: ProjectId, key: String) -> Result<Option<String>> {
    let found = forge.db.peek(move |tx| tx.find_project(project)).await?;
    match found {
        Some(project) => read(forge, Arc::new(project.facts()), key).await,
        None => Ok(None),
    }
}

async fn read(forge: &Forge, project: Arc<ProjectFacts>, key: String) -> Result<Option<String>> {
    if key.contains('/') || !forge.storage.exists(project.id) {
        return Ok(None);
    }
    forge.git_read(project.id, move |reader| text(reader, &project, &key)).await
}

fn text(reader: &Reader, project: &ProjectFacts, key: &str) -> Result<Option<String>> {
    let Some(head) = default_head(reader, project)? else { return Ok(None) };
    let Ok(path) = TreePath::lookup(format!("{FOLDER}/{key}.md")) else { return Ok(None) };
    let entry = reader.find_entry(head, &path)?;
    let Some(file) = entry.filter(|entry| entry.kind() == EntryKind::Blob) else { return Ok(None) };
    match reader.blob(file.id, LARGEST) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).replace('\0', ""))),
        Err(GitError::TooLarge) => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}
