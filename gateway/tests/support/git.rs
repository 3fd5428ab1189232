//! The git program with a folder of its own, and without the configuration of whoever runs the tests.

use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

/// Where the git of every common system and its helpers are.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

pub(crate) struct Client {
    folder: TempDir,
}

/// What git said, and whether it was content.
#[derive(Debug)]
pub(crate) struct GitOutput {
    content: bool,
    stdout: String,
    stderr: String,
}

impl Client {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A repository with one commit on `main`.
    pub(crate) async fn with_commit() -> Self {
        let client = Self::new();
        client.run("init -q -b main .").await.ok();
        client.commit("first").await;
        client
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Changes a file and commits it; answers the id.
    pub(crate) async fn commit(&self, title: &str) -> String {
        self.commit_file("file", title.as_bytes(), title).await
    }

    pub(crate) async fn commit_file(&self, name: &str, content: &[u8], title: &str) -> String {
        std::fs::write(self.path().join(name), content).expect("a file");
        self.git(&["add", name]).await.ok();
        self.git(&["commit", "-q", "-m", title]).await.ok();
        self.run("rev-parse HEAD").await.ok()
    }

    /// Runs git with words that hold no blanks.
    pub(crate) async fn run(&self, words: &str) -> GitOutput {
        self.git(&words.split(' ').collect::<Vec<_>>()).await
    }

    pub(crate) async fn git(&self, words: &[&str]) -> GitOutput {
        self.git_with(words, &[]).await
    }

    /// As [`git`](Self::git), with more in its environment.
    pub(crate) async fn git_with(&self, words: &[&str], environment: &[(&str, &str)]) -> GitOutput {
        let mut command = Command::new("git");
        command.args(words).current_dir(self.path()).kill_on_drop(true);
        command.env_clear().env("PATH", SEARCH_PATH).env("LC_ALL", "C");
        command.env("HOME", "/nonexistent").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Carl Committer");
            command.env(format!("GIT_{role}_EMAIL"), "carl@example.com");
            command.env(format!("GIT_{role}_DATE"), "1700000000 +0100");
        }
        command.envs(environment.iter().copied());
        let output = command.output().await.expect("git runs");
        GitOutput {
            content: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).trim_end().to_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl GitOutput {
    /// What it printed, after it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert!(self.content, "{}", self.stderr);
        self.stdout
    }

    /// What it complained about, after it went wrong.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert!(!self.content, "git was content: {} {}", self.stdout, self.stderr);
        self.stderr
    }

    /// Asserts that it went wrong with this sentence from the server.
    #[track_caller]
    pub(crate) fn told(self, sentence: &str) {
        let complaint = self.refused();
        // Git pads what the server says to the width of a terminal.
        let told = complaint.lines().any(|line| {
            line.strip_prefix("remote: ").is_some_and(|text| text.trim_end() == sentence)
        });
        assert!(told, "no line says {sentence:?}:\n{complaint}");
    }

    pub(crate) fn went_well(&self) -> bool {
        self.content
    }

    pub(crate) fn complaint(&self) -> &str {
        &self.stderr
    }
}
