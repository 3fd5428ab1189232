//! Keeps a copy of a repository: `cargo run -p forgeway-repo --example mirror_repository`.
//!
//! A mirror has every branch and tag of its source, and none that the source has not. Made here in a temporary folder.

use std::{collections::BTreeMap, ffi::OsString, io::Write as _};

use forgeway_repo::git::{
    Git, Oid, Reader, RefName, RepoPath, Signature, Storage,
    change::{self, ActionKind, Change, FileAction, Start},
    cli::Settings,
    refs::{self, RefMove},
    transfer,
};
use kernel::ids::ProjectId;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let storage = Storage::new(folder.path());
    let git = Git::find(Settings::new(OsString::from("/usr/local/bin:/usr/bin:/bin"))).await?;
    let main = RefName::branch("main")?;
    let source = storage.create(ProjectId(1), &main)?;
    let copy = storage.create(ProjectId(2), &main)?;

    let mut out = std::io::stdout().lock();
    for text in ["One\n", "One\nTwo\n"] {
        commit(&git, &source, text).await?;
        for moved in mirror(&git, &source, &copy).await? {
            writeln!(out, "{} is at {:?}", moved.name, moved.new.map(|id| id.short()))?;
        }
    }
    assert!(mirror(&git, &source, &copy).await?.is_empty(), "nothing is new");
    Ok(())
}

/// Brings a copy to where its source is; tells which refs moved.
async fn mirror(git: &Git, source: &RepoPath, copy: &RepoPath) -> Result<Vec<RefMove>, Failure> {
    let (wanted, known) = (tips(source)?, tips(copy)?);
    let mut moves = Vec::new();
    for (name, id) in &wanted {
        let old = known.get(name).copied();
        if old != Some(*id) {
            // The objects are there, durably, before anything names them.
            transfer::bring(git, source, copy, *id).await?;
            moves.push(RefMove { name: name.clone(), old: old.into(), new: Some(*id) });
        }
    }
    let gone = known.iter().filter(|(name, _)| !wanted.contains_key(*name));
    moves.extend(gone.map(|(name, id)| RefMove {
        name: name.clone(),
        old: Some(*id).into(),
        new: None,
    }));
    refs::move_now(copy, &moves).await?;
    Ok(moves)
}

/// Where the branches and tags of a repository are.
fn tips(repository: &RepoPath) -> Result<BTreeMap<RefName, Oid>, Failure> {
    let reader = Reader::open_uncached(repository)?;
    let refs = reader.branches()?.into_iter().chain(reader.tag_refs()?);
    Ok(refs.map(|one| (one.name, one.target)).collect())
}

async fn commit(git: &Git, repository: &RepoPath, text: &'static str) -> Result<(), Failure> {
    let is_new = Reader::open_uncached(repository)?.is_empty()?;
    let kind = if is_new { ActionKind::Create } else { ActionKind::Update };
    let ann = Signature {
        name: "Ann".to_owned(),
        email: "ann@example.com".to_owned(),
        at: 1_700_000_000,
        offset: 0,
    };
    let change = Change {
        branch: "main".to_owned(),
        start: Start::default(),
        force: false,
        message: "Write".to_owned(),
        actions: vec![FileAction::new(kind, "README.md").content(text)],
        author: ann.clone(),
        committer: ann,
    };
    let made = change::build(git, repository, change).await?;
    refs::move_now(repository, &[made.branch]).await?;
    Ok(())
}
