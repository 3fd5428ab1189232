//! A repository in a temporary folder, and git itself to hold it against.

use std::ffi::OsString;
use std::process::{Command, Output};

use forgeway_repo::git::change::{Change, FileAction, NewCommit, Start};
use forgeway_repo::git::cli::Settings;
use forgeway_repo::git::{Git, Oid, RefName, RepoPath, Signature, Storage, change, refs};
use kernel::ids::ProjectId;
use tempfile::TempDir;

/// Where the git of every common system and its helpers are.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

pub(crate) struct Scratch {
    pub(crate) folder: TempDir,
    pub(crate) storage: Storage,
    pub(crate) git: Git,
    pub(crate) repo: RepoPath,
}

impl Scratch {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path());
        let git = Git::find(Settings::new(OsString::from(SEARCH_PATH))).await.unwrap();
        let repo = storage.create(ProjectId(1), &RefName::branch("main").unwrap()).unwrap();
        Self { folder, storage, git, repo }
    }

    pub(crate) fn another(&self, project: i64) -> RepoPath {
        self.storage.create(ProjectId(project), &RefName::branch("main").unwrap()).unwrap()
    }

    /// What git answers in the repository, without the last line end.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        ask_in(&self.repo, words)
    }

    pub(crate) fn tip(&self, branch: &str) -> Oid {
        self.ask(&["rev-parse", &format!("refs/heads/{branch}")]).parse().unwrap()
    }

    pub(crate) async fn try_commit(
        &self,
        change: Change,
    ) -> Result<NewCommit, change::ChangeError> {
        let made = change::build(&self.git, &self.repo, change).await?;
        let moved = refs::move_now(&self.repo, std::slice::from_ref(&made.branch)).await;
        moved.map_err(|error| change::ChangeError::of_move(&made.branch.name, error))?;
        Ok(made)
    }

    /// Commits on `main`.
    pub(crate) async fn commit(&self, actions: Vec<FileAction>) -> Oid {
        self.try_commit(on("main", actions)).await.unwrap().id
    }

    pub(crate) fn fsck(&self) {
        let output = run_in(&self.repo, &["fsck", "--strict", "--full"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && !said.contains("error") && !said.contains("warning"),
            "{said}"
        );
    }
}

pub(crate) fn on(branch: &str, actions: Vec<FileAction>) -> Change {
    Change {
        branch: branch.to_owned(),
        start: Start::default(),
        force: false,
        actions,
        message: "A change".to_owned(),
        author: person("Ann Author"),
        committer: person("Carl Committer"),
    }
}

pub(crate) fn person(name: &str) -> Signature {
    let email =
        format!("{}@example.com", name.split(' ').next().unwrap_or_default().to_lowercase());
    Signature { name: name.to_owned(), email, at: 1_700_000_000, offset: 3600 }
}

pub(crate) fn ask_in(repo: &RepoPath, words: &[&str]) -> String {
    let output = run_in(repo, words);
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

pub(crate) fn run_in(repo: &RepoPath, words: &[&str]) -> Output {
    plain_git().arg("--git-dir").arg(repo.as_path()).args(words).output().unwrap()
}

/// The git program without the configuration of whoever runs the tests.
pub(crate) fn plain_git() -> Command {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", SEARCH_PATH).env("LC_ALL", "C").env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Carl Committer");
        command.env(format!("GIT_{role}_EMAIL"), "carl@example.com");
        command.env(format!("GIT_{role}_DATE"), "1700000000 +0100");
    }
    command
}
