//! A clone on disk and the git command line.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A working folder of git.
pub(crate) struct Git {
    pub(crate) folder: PathBuf,
}

impl Git {
    /// A new repository below `parent` with one commit on `main`.
    pub(crate) fn new(parent: &Path, name: &str) -> Self {
        let this = Self { folder: parent.join(name) };
        std::fs::create_dir_all(&this.folder).expect("a folder");
        this.run(&["init", "-q", "-b", "main"]);
        this.commit("first");
        this
    }

    pub(crate) fn commit(&self, text: &str) -> String {
        std::fs::write(self.folder.join("file.txt"), text).expect("a file");
        self.run(&["add", "."]);
        self.run(&["commit", "-q", "-m", text]);
        self.run(&["rev-parse", "HEAD"])
    }

    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let (good, text) = self.attempt(arguments);
        assert!(good, "git {arguments:?}: {text}");
        text
    }

    /// Whether it succeeded, and what it said.
    pub(crate) fn attempt(&self, arguments: &[&str]) -> (bool, String) {
        let done = command(&self.folder).args(arguments).output().expect("git runs");
        let text = match done.status.success() {
            true => done.stdout,
            false => done.stderr,
        };
        (done.status.success(), String::from_utf8_lossy(&text).trim().to_owned())
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    as_ada(command.current_dir(folder));
    command
}

/// Lets git run with nobody's settings but ours.
pub(crate) fn as_ada(command: &mut Command) {
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com");
}
