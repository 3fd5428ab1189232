//! What a CI configuration is compiled with: the files of commits, other projects, and variables of the server.

use std::{
    cell::OnceCell,
    sync::Arc,
    time::{Duration, Instant},
};

use ci::{
    config::{
        Lint, dry_run,
        given::{Artifact, Fetch, Given, Limits, Project, RefKind, Tree, Unreachable},
        lint,
        variables::{CommitFacts, Known, Server, Variable, of_commit, of_project, of_server},
    },
    pipeline::{Place, Source},
    policy::CreatePipelines,
    ports::Refs as _,
};
use kernel::{Ability as _, Actor, Error, Result, Standing, access::ProjectFacts};
use org::{
    access::{IdOrPath, locate_project},
    project::settings::SettingsStore,
};
use repo::{
    code_owners::changed_by,
    commit::read::{commit_named, default_head, find_commit},
    git::{CommitInfo, EntryKind, GitError, Oid, Reader, RefName, TreePage, TreePath},
    policy::ReadCode,
};

use super::ci::Refs;
use crate::{app::App, rest::version::API_VERSION};

/// Looking for files, fetching them and compiling patterns ends after this.
const PATIENCE: Duration = Duration::from_secs(30);

/// A file is read up to here; the language itself stops at a quarter of it.
const LARGEST: u64 = 8 << 20;

/// Where the configuration of a project lies unless it says otherwise.
const CONFIG_PATH: &str = ".gitlab-ci.yml";

/// The files of one commit; none where there is no commit.
struct Files<R> {
    reader: Option<R>,
    project: String,
    commit: Option<Oid>,
    sha: String,
    paths: OnceCell<Arc<[String]>>,
}

impl<R: AsRef<Reader>> Files<R> {
    fn new(reader: Option<R>, project: &str, commit: Option<Oid>) -> Self {
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

/// What lies outside of the project, as far as a person may read it.
struct Elsewhere<'a> {
    app: &'a App,
    actor: Actor,
}

impl Fetch for Elsewhere<'_> {
    fn project(&self, path: &str, reference: Option<&str>) -> Result<Project<'_>> {
        let named = IdOrPath::Path(path.to_owned());
        let found = self.app.db.read_blocking(|tx| locate_project(tx, self.actor, &named));
        let facts = match found {
            Ok((project, who)) if ReadCode::allows(&who) => project.0,
            Ok(_) | Err(Error::NotFound(_)) => return Ok(Project::NotFound),
            Err(failure) => return Err(failure),
        };
        let repository = self.app.storage.repository(facts.id);
        let reader = match self.app.repositories.open(&repository) {
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
            commit => {
                Project::Found(Box::new(Files::new(Some(Own(reader)), &facts.full_path, commit)))
            }
        })
    }

    /// Nothing here goes out of the machine on somebody else's word.
    fn remote(&self, _address: &str) -> std::result::Result<String, Unreachable> {
        Err(Unreachable::Refused("this server fetches no remote files".to_owned()))
    }

    fn artifact(&self, _job: &str, _path: &str) -> Result<Artifact> {
        Ok(Artifact::NoParent)
    }
}

/// A reader of one's own, and one that is lent.
struct Own(Reader);

impl AsRef<Reader> for Own {
    fn as_ref(&self) -> &Reader {
        &self.0
    }
}

struct Lent<'r>(&'r Reader);

impl AsRef<Reader> for Lent<'_> {
    fn as_ref(&self) -> &Reader {
        self.0
    }
}

/// Which text is judged.
#[derive(Clone, Debug)]
pub enum Text {
    Given(String),
    /// The configuration of a commit, or of the tip of the default branch.
    Committed(Option<String>),
}

/// A configuration that somebody wants to know about, in a project.
pub struct Question {
    pub app: App,
    pub project: Arc<ProjectFacts>,
    pub who: Standing,
    pub text: Text,
    /// Whether a push to the ref is played through.
    pub dry_run: bool,
    /// A branch or tag; the default branch when left out.
    pub ref_name: Option<String>,
}

/// A branch or tag, and the commit at which it is.
struct Tip {
    place: Place,
    commit: Oid,
    protected: bool,
}

impl Question {
    /// What there is to say of it. Reads git, so it wants a thread that may block.
    pub fn answer(&self, reader: Option<&Reader>) -> Result<Lint> {
        let head = match reader {
            Some(reader) => default_head(reader, &self.project)?,
            None => None,
        };
        let (text, commit) = self.text(reader, head)?;
        if !self.dry_run {
            let name = self.project.default_branch.as_deref().unwrap_or_default();
            let place = Place { name: name.to_owned(), tag: false };
            let commit = commit.or(head);
            return self.compiled(reader, &text, &place, commit, false, lint);
        }
        let tip = match self.tip(reader)? {
            Ok(tip) => tip,
            Err(refusal) => return Ok(Lint { errors: vec![refusal], ..Lint::default() }),
        };
        let commit = commit.or(Some(tip.commit));
        self.compiled(reader, &text, &tip.place, commit, tip.protected, dry_run)
    }

    /// The text, and the commit from which it is.
    fn text(&self, reader: Option<&Reader>, head: Option<Oid>) -> Result<(String, Option<Oid>)> {
        let sha = match &self.text {
            Text::Given(text) => return Ok((text.clone(), None)),
            Text::Committed(sha) => sha.as_deref(),
        };
        let (Some(reader), Some(head)) = (reader, head) else {
            return Err(Error::NotFound("Repository"));
        };
        let commit = sha.map_or(Ok(head), |sha| commit_named(reader, sha))?;
        let settings = self.app.db.read_blocking(|tx| tx.project_settings(self.project.id))?;
        let path = settings.ci_config_path.filter(|path| !path.trim().is_empty());
        let path = path.as_deref().unwrap_or(CONFIG_PATH);
        let text = match elsewhere(path) {
            Some(include) => include,
            None => Files::new(Some(Lent(reader)), &self.project.full_path, Some(commit))
                .text(path)?
                .unwrap_or_default(),
        };
        Ok((text, Some(commit)))
    }

    /// The ref of a dry run, or why no pipeline would be made for it.
    fn tip(&self, reader: Option<&Reader>) -> Result<std::result::Result<Tip, String>> {
        if !CreatePipelines::allows(&self.who) {
            return Ok(Err("Insufficient permissions to create a new pipeline".to_owned()));
        }
        let missing = || Ok(Err("Reference not found".to_owned()));
        let name = self.ref_name.as_deref().filter(|name| !name.is_empty());
        let name = name.or(self.project.default_branch.as_deref());
        let (Some(reader), Some(name)) = (reader, name) else { return missing() };
        let of_kind = |name: repo::git::Result<RefName>| -> Result<Option<Oid>> {
            let Ok(name) = name else { return Ok(None) };
            Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
        };
        let (commit, tag) = match (of_kind(RefName::branch(name))?, of_kind(RefName::tag(name))?) {
            (Some(_), Some(_)) => return Ok(Err("Ref is ambiguous".to_owned())),
            (Some(commit), None) => (commit, false),
            (None, Some(commit)) => (commit, true),
            (None, None) => return missing(),
        };
        let place = Place { name: name.to_owned(), tag };
        let guarded =
            self.app.db.read_blocking(|tx| Refs.guarded(tx, &self.who, self.project.id, &place))?;
        if guarded.protected && !guarded.open {
            return Ok(Err(format!(
                "You do not have sufficient permission to run a pipeline on '{name}'. Please select a different branch or contact your administrator for assistance."
            )));
        }
        Ok(Ok(Tip { place, commit, protected: guarded.protected }))
    }

    fn compiled(
        &self,
        reader: Option<&Reader>,
        text: &str,
        place: &Place,
        commit: Option<Oid>,
        protected: bool,
        judge: impl FnOnce(&str, &Given<'_>) -> Result<Lint>,
    ) -> Result<Lint> {
        let server = server(&self.app);
        let kind = if place.tag { RefKind::Tag } else { RefKind::Branch };
        let mut beneath = of_server(&server);
        beneath.extend(of_project(&server, &self.project));
        beneath.push(Variable::public("CI_PIPELINE_SOURCE", Source::Push.to_string()));
        if let (Some(reader), Some(commit)) = (reader, commit) {
            let facts = facts(&reader.commit(commit)?);
            beneath.extend(of_commit(&facts, &place.name, kind, protected));
        }
        judge(
            text,
            &Given {
                source: Source::Push,
                ref_name: &place.name,
                ref_kind: kind,
                project: &self.project.full_path,
                has_kubernetes: false,
                variables: &Known { beneath, above: Vec::new() },
                changes: None,
                tree: &Files::new(reader.map(Lent), &self.project.full_path, commit),
                fetch: &Elsewhere { app: &self.app, actor: self.who.actor },
                deadline: Some(Instant::now() + PATIENCE),
                limits: Limits::default(),
            },
        )
    }
}

/// What there is to say of a text that belongs to no project.
pub fn alone(app: &App, actor: Actor, text: &str) -> Result<Lint> {
    let given = Given {
        source: Source::Push,
        ref_name: "",
        ref_kind: RefKind::Branch,
        project: "",
        has_kubernetes: false,
        variables: &Known { beneath: of_server(&server(app)), above: Vec::new() },
        changes: None,
        tree: &Files::<Own>::new(None, "", None),
        fetch: &Elsewhere { app, actor },
        deadline: Some(Instant::now() + PATIENCE),
        limits: Limits::default(),
    };
    lint(text, &given)
}

fn server(app: &App) -> Server<'_> {
    Server { url: app.urls.base(), name: "Forgeway", version: API_VERSION }
}

/// A path that leads out of the repository, as a configuration that includes what is there: `ci.yml@group/project:ref`,
/// or an address.
fn elsewhere(path: &str) -> Option<String> {
    let include = if path.starts_with("http://") || path.starts_with("https://") {
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

fn facts(commit: &CommitInfo) -> CommitFacts {
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
