//! The crate without a server: makes a repository, commits to it, reverts, and asks who wrote each line.
//!
//! `cargo run -p forgeway-repo --example write_and_read -- /tmp/example-data`

use std::ffi::OsString;
use std::io::Write as _;

use forgeway_repo::git::blame::blame;
use forgeway_repo::git::change::{self, ActionKind, Change, FileAction, NewCommit, Start};
use forgeway_repo::git::cli::Settings;
use forgeway_repo::git::merge::{self, Apply, Operation};
use forgeway_repo::git::{Git, RefName, Signature, Storage, TreePath, refs};
use kernel::ids::ProjectId;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let data = std::env::args_os().nth(1).ok_or("name a folder for the data")?;
    let storage = Storage::new(std::path::absolute(data)?);
    let git = Git::find(Settings::new(OsString::from("/usr/local/bin:/usr/bin:/bin"))).await?;
    let main = RefName::branch("main")?;
    let repo = storage.create(ProjectId(1), &main)?;
    let ann = Signature {
        name: "Ann".to_owned(),
        email: "ann@example.com".to_owned(),
        at: 1_700_000_000,
        offset: 0,
    };
    let commit = |action: FileAction| {
        let change = Change {
            branch: main.short().into_owned(),
            start: Start::default(),
            force: false,
            message: format!("Change {}", action.path),
            actions: vec![action],
            author: ann.clone(),
            committer: ann.clone(),
        };
        let (git, repo) = (&git, &repo);
        async move {
            let made = change::build(git, repo, change).await?;
            refs::move_now(repo, std::slice::from_ref(&made.branch)).await?;
            Ok::<NewCommit, Failure>(made)
        }
    };

    commit(FileAction::new(ActionKind::Create, "README.md").content("One\nTwo\n")).await?;
    let second =
        commit(FileAction::new(ActionKind::Update, "README.md").content("One\n2\n")).await?;
    let undo = Apply {
        operation: Operation::Revert,
        branch: main.clone(),
        tip: second.id,
        commit: second.id,
        committer: ann.clone(),
        message: None,
    };
    let undone = merge::apply(&git, &repo, undo).await?.write(&git, &repo).await?;
    refs::move_now(&repo, std::slice::from_ref(&undone.branch)).await?;

    let mut out = std::io::stdout().lock();
    let found = blame(&git, &repo, undone.id, &TreePath::new("README.md")?, None).await?;
    for span in found.spans {
        writeln!(out, "{} wrote {} lines", span.commit.short(), span.lines)?;
    }
    Ok(())
}
