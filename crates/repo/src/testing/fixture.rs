//! A repository on disk, with git at hand to compare answers.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use kernel::ids::ProjectId;
use tempfile::TempDir;

use super::{history::History, random, told};
use crate::git::{Oid, Reader, RefName, RepoPath, Repositories, Storage};

/// Removed with everything in it when dropped.
#[derive(Debug)]
pub struct Fixture {
    pub storage: Storage,
    pub project: ProjectId,
    pub path: RepoPath,
    _folder: TempDir,
}

#[expect(clippy::expect_used, reason = "a test without its repository has failed")]
impl Fixture {
    /// A repository without any commit, whose HEAD names `main`.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::new(folder.path());
        let project = ProjectId(1);
        let main = RefName::branch("main").expect("a valid name");
        let path = storage.create(project, &main).expect("a new repository");
        Self { storage, project, path, _folder: folder }
    }

    pub fn of(history: History) -> Self {
        let fixture = Self::empty();
        fixture.git_with(
            &["fast-import", "--quiet", "--done", "--date-format=raw-permissive"],
            &history.into_stream(),
        );
        fixture
    }

    /// The history that most tests read; see `told.rs`.
    #[expect(clippy::new_without_default, reason = "a repository on disk is no default value")]
    pub fn new() -> Self {
        Self::of(told::history())
    }

    /// Some hundred commits with merges, renames and lying dates, the same for the same seed.
    pub fn random(seed: u64, commits: usize) -> Self {
        Self::of(random::history(seed, commits))
    }

    pub fn reader(&self) -> Reader {
        Repositories::default().open(&self.path).expect("an open repository")
    }

    /// What git prints.
    pub fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_with(arguments, b"")
    }

    pub fn git_with(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let (succeeded, output) = self.try_git(arguments, input);
        assert!(succeeded, "git {arguments:?}");
        output
    }

    /// As [`git_with`](Self::git_with); false when git failed.
    pub fn try_git(&self, arguments: &[&str], input: &[u8]) -> (bool, Vec<u8>) {
        let mut child = Command::new("git")
            .args([
                "-c",
                "core.quotePath=false",
                "-c",
                "safe.directory=*",
                "-c",
                "commitGraph.generationVersion=2",
            ])
            .arg("--git-dir")
            .arg(self.path.as_path())
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git runs");
        let mut stdin = child.stdin.take().expect("its input");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("git ends");
        // Git may have had enough before it read everything.
        let _ = writer.join();
        (output.status.success(), output.stdout)
    }

    /// What git prints, as lines.
    pub fn lines(&self, arguments: &[&str]) -> Vec<String> {
        String::from_utf8_lossy(&self.git(arguments)).lines().map(str::to_owned).collect()
    }

    /// The commit that git finds under `name`.
    pub fn id(&self, name: &str) -> Oid {
        let output = self.lines(&["rev-parse", "--verify", &format!("{name}^{{commit}}")]);
        output[0].parse().expect("a full id")
    }

    /// Writes what maintenance writes, so that both ways of reading are tested.
    pub fn maintain(&self) {
        self.git(&["commit-graph", "write", "--reachable", "--changed-paths"]);
        self.git(&["repack", "-adq"]);
        self.git(&["pack-refs", "--all"]);
    }

    /// As [`maintain`](Self::maintain), with the commit-graph in two files.
    pub fn maintain_in_layers(&self) {
        let write = ["commit-graph", "write", "--changed-paths", "--split=no-merge"];
        let half = self.git(&["rev-parse", "main~3"]);
        self.git_with(&[&write[..], &["--stdin-commits"]].concat(), &half);
        self.git(&[&write[..], &["--reachable"]].concat());
        let chain = self.path.as_path().join("objects/info/commit-graphs/commit-graph-chain");
        let chain = std::fs::read_to_string(chain).expect("a chain of files");
        assert_eq!(chain.lines().count(), 2);
    }
}
