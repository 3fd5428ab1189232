//! What a CI configuration is compiled with: the files of commits, other projects, and variables of the server.

use std::{cell::OnceCell, sync::Arc, time::Duration};

use ci::config::{
    input::{Artifact, EnvironmentIdentity, Fetch, FetchFailure, Project, Tree},
    variables::{CommitFacts, Server},
};
use deployments::environment::{Tier, slug};
use kernel::{
    Ability as _, Actor, Result,
    ids::{PipelineId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project},
    project::store::ProjectStore as _,
};
use repo::{
    code_owners::changed_by,
    commit::read::{default_head, find_commit},
    git::{CommitInfo, EntryKind, GitError, Oid, Reader, RefName, TreePage, TreePath},
    policy::ReadCode,
};

use tokio::runtime::Handle;

use super::{artifact_files::artifact_file, remote_files::CompilePass};
use crate::{
    Forge,
    external_authorization::{ensure_admitted, is_closed_across_projects},
    version::API_VERSION,
};

/// Looking for files and compiling patterns ends after this.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A file is read up to here; the language itself stops at a quarter of it.
const LARGEST: u64 = 8 << 20;

/// Where the configuration of a project lies unless it says otherwise.
pub(super) const CONFIG_PATH: &str = ".gitlab-ci.yml";

/// Where the configuration of a project lies: where the project says, else where the installation says.
pub fn config_path(forge: &Forge, own: Option<&str>) -> String {
    let settings = forge.settings();
    let own = own.filter(|path| !path.is_empty());
    own.or(settings.default_ci_config_path()).unwrap_or(CONFIG_PATH).to_owned()
}

/// What jobs are told of the environment of a name, before there is one.
pub(super) fn environment_identity(name: &str) -> EnvironmentIdentity {
    EnvironmentIdentity { slug: slug(name), tier: Tier::of_name(name).to_string() }
}

/// The folder of a project with templates that holds CI configurations.
const TEMPLATES: &str = "gitlab-ci";

/// The files of one commit; none where there is no commit.
pub(super) struct Files<R> {
    reader: Option<R>,
    project: String,
    commit: Option<Oid>,
    sha: String,
    paths: OnceCell<Arc<[String]>>,
}

impl<R: AsRef<Reader>> Files<R> {
    pub(super) fn new(reader: Option<R>, project: &str, commit: Option<Oid>) -> Self {
        let sha = commit.map(|commit| commit.to_string()).unwrap_or_default();
        Self { reader, project: project.to_owned(), commit, sha, paths: OnceCell::new() }
    }

    fn at(&self) -> Option<(&Reader, Oid)> {
        Some((self.reader.as_ref()?.as_ref(), self.commit?))
    }

    /// The blob at a path.
    fn blob(&self, path: &str) -> Result<Option<(&Reader, Oid)>> {
        let Some((reader, commit)) = self.at() else { return Ok(None) };
        let Ok(path) = TreePath::lookup(path) else { return Ok(None) };
        let entry = reader.find_entry(commit, &path)?;
        let file = entry.filter(|entry| entry.kind() == EntryKind::Blob);
        Ok(file.map(|file| (reader, file.id)))
    }
}

impl<R: AsRef<Reader>> Tree for Files<R> {
    fn project(&self) -> &str {
        &self.project
    }

    fn sha(&self) -> &str {
        &self.sha
    }

    fn text(&self, path: &str) -> Result<Option<String>> {
        let Some((reader, blob)) = self.blob(path)? else { return Ok(None) };
        match reader.blob(blob, LARGEST) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(GitError::TooLarge) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn fingerprint(&self, path: &str) -> Result<Option<String>> {
        Ok(self.blob(path)?.map(|(_, blob)| blob.to_string()))
    }

    fn paths(&self) -> Result<Arc<[String]>> {
        if let Some(paths) = self.paths.get() {
            return Ok(Arc::clone(paths));
        }
        let Some((reader, commit)) = self.at() else { return Ok(Arc::from([])) };
        let root = TreePath::stored("");
        let entries = reader.list(commit, &root, true, TreePage::default())?;
        let files = entries.iter().filter(|entry| entry.kind() == EntryKind::Blob);
        let paths: Arc<[String]> = files.map(|entry| entry.path.to_text().into_owned()).collect();
        Ok(Arc::clone(self.paths.get_or_init(|| paths)))
    }

    fn changed_since(&self, reference: &str) -> Result<Option<Vec<String>>> {
        let Some((reader, commit)) = self.at() else { return Ok(None) };
        let Some(other) = find_commit(reader, reference)? else { return Ok(None) };
        let base = reader.merge_base(&[other, commit])?.unwrap_or(other);
        Ok(Some(changed_by(reader, base, commit)?.into_iter().collect()))
    }
}

/// Files outside of the project, as far as a user may read them.
pub(super) struct OtherProjects<'a> {
    pub(super) forge: &'a Forge,
    pub(super) actor: Actor,
    pub(super) pass: &'a CompilePass,
    /// The pipeline whose jobs may have left files for the configuration.
    pub(super) parent: Option<PipelineId>,
}

impl OtherProjects<'_> {
    /// Whether the service for external authorization lets the person into a project. Waits on this thread, which may
    /// block.
    fn is_admitted(&self, project: ProjectId) -> Result<bool> {
        if !is_closed_across_projects(self.forge, self.actor) {
            return Ok(true);
        }
        let Ok(runtime) = Handle::try_current() else { return Ok(false) };
        match runtime.block_on(ensure_admitted(self.forge, self.actor, project)) {
            Err(gone) if gone.is_gone() => Ok(false),
            admitted => admitted.map(|()| true),
        }
    }
}

impl Fetch for OtherProjects<'_> {
    fn project(&self, path: &str, reference: Option<&str>) -> Result<Project<'_>> {
        let named = IdOrPath::Path(path.to_owned());
        let found = self.forge.db.read_blocking(|tx| locate_project(tx, self.actor, &named));
        let facts = match found {
            Ok((project, who)) if ReadCode::allows(&who) => project.0,
            Err(failure) if !failure.is_gone() => return Err(failure),
            _ => return Ok(Project::NotFound),
        };
        if !self.is_admitted(facts.id)? {
            return Ok(Project::NotFound);
        }
        let repository = self.forge.storage.repository(facts.id);
        let reader = match self.forge.repositories.open(&repository) {
            Ok(reader) => reader,
            Err(GitError::NotFound) => return Ok(Project::NoReference),
            Err(failure) => return Err(failure.into()),
        };
        let commit = match reference {
            Some(name) => find_commit(&reader, name)?,
            None => default_head(&reader, &facts)?,
        };
        Ok(match commit {
            None => Project::NoReference,
            commit => Project::Found(Box::new(Files::new(
                Some(OwnedReader(reader)),
                &facts.full_path,
                commit,
            ))),
        })
    }

    fn remote(&self, address: &str) -> std::result::Result<String, FetchFailure> {
        self.pass.text(address)
    }

    /// From the project that administrators keep templates in; everybody may include them.
    fn template(&self, name: &str) -> Result<Option<String>> {
        let Some(project) = self.forge.settings().file_template_project_id().map(ProjectId) else {
            return Ok(None);
        };
        let Some(found) = self.forge.db.read_blocking(|tx| tx.find_project(project))? else {
            return Ok(None);
        };
        let facts = found.facts();
        let reader = match self.forge.repositories.open(&self.forge.storage.repository(project)) {
            Ok(reader) => reader,
            Err(GitError::NotFound) => return Ok(None),
            Err(failure) => return Err(failure.into()),
        };
        let commit = default_head(&reader, &facts)?;
        Files::new(Some(OwnedReader(reader)), &facts.full_path, commit)
            .text(&format!("{TEMPLATES}/{name}"))
    }

    fn artifact(&self, job: &str, path: &str) -> Result<Artifact> {
        match self.parent {
            Some(parent) => artifact_file(self.forge, parent, job, path),
            None => Ok(Artifact::NoParent),
        }
    }
}

/// A reader that the files own; see [`BorrowedReader`] for a shared one.
pub(super) struct OwnedReader(Reader);

impl AsRef<Reader> for OwnedReader {
    fn as_ref(&self) -> &Reader {
        &self.0
    }
}

pub(super) struct BorrowedReader<'r>(pub(super) &'r Reader);

impl AsRef<Reader> for BorrowedReader<'_> {
    fn as_ref(&self) -> &Reader {
        self.0
    }
}

pub(super) fn server(forge: &Forge) -> Server<'_> {
    let (url, revision) = (forge.urls.base(), forge.revision.as_str());
    Server { url, name: "Forgeway", version: API_VERSION, revision }
}

/// Whether a path to a configuration is an address.
pub(super) fn is_address(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
}

/// A path that leads out of the repository, as a configuration that includes what is there: `ci.yml@group/project:ref`,
/// or an address.
pub(super) fn elsewhere(path: &str) -> Option<String> {
    let include = if is_address(path) {
        serde_json::json!({ "remote": path })
    } else {
        let (file, place) = path.split_once('@')?;
        let (project, reference) = match place.split_once(':') {
            Some((project, reference)) => (project, Some(reference)),
            None => (place, None),
        };
        serde_json::json!({ "file": file, "project": project, "ref": reference })
    };
    Some(format!("include: [{include}]\n"))
}

/// The commit of a pipeline, with what was written to its tag.
#[derive(Clone, Debug)]
pub(crate) struct PipelineCommit {
    info: CommitInfo,
    tag_message: Option<String>,
}

impl PipelineCommit {
    pub(super) fn read(reader: &Reader, commit: Oid, tag: Option<&str>) -> Result<Self> {
        let info = reader.commit(commit)?;
        let named = tag.and_then(|tag| RefName::tag(tag).ok());
        let tag_message = match named {
            Some(name) if reader.find_reference(&name)?.is_some() => reader.tag(&name)?.message,
            _ => None,
        };
        Ok(Self { info, tag_message })
    }
}

pub(super) fn facts(commit: &PipelineCommit) -> CommitFacts {
    let tag_message = commit.tag_message.clone().unwrap_or_default();
    let commit = &commit.info;
    let at = time::OffsetDateTime::from_unix_timestamp(commit.committer.at).ok();
    let offset = time::UtcOffset::from_whole_seconds(commit.committer.offset).ok();
    let at = at.zip(offset).and_then(|(at, offset)| at.checked_to_offset(offset));
    let format = time::format_description::well_known::Rfc3339;
    CommitFacts {
        sha: commit.id.to_string(),
        author: format!("{} <{}>", commit.author.name, commit.author.email),
        title: commit.title.clone(),
        message: commit.message.clone(),
        timestamp: at.and_then(|at| at.format(&format).ok()).unwrap_or_default(),
        tag_message,
    }
}

#[cfg(test)]
mod tests {
    use super::elsewhere;

    #[test]
    fn a_path_may_lead_out_of_the_repository() {
        assert_eq!(elsewhere("ci/all.yml"), None);
        assert_eq!(
            elsewhere("ci.yml@group/project:v1").as_deref(),
            Some("include: [{\"file\":\"ci.yml\",\"project\":\"group/project\",\"ref\":\"v1\"}]\n")
        );
        assert_eq!(
            elsewhere("https://forge.test/ci.yml").as_deref(),
            Some("include: [{\"remote\":\"https://forge.test/ci.yml\"}]\n")
        );
    }
}
