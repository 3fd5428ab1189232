//! Reads a push of a git client while its objects are still in quarantine.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};
use kernel::task::spawn_blocking;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{
    RefChange,
    ref_survey::{RefRange, RefSurvey},
};
use crate::{
    code_owners::{self, CodeOwners},
    git::{
        Deadline, Git, GitError, Oid, Reader, RefName, RepoPath, Result,
        branch_name::LOOKS_LIKE_ID, cli::Call, hook::RefCommand, quarantine::QUARANTINE,
        reader::OverlayReader,
    },
};

/// What a push of refs outside of branches, tags and notes is told of each.
pub const HIDDEN: &str = "deny updating a hidden ref";
/// A push of more new commits is refused where they must be looked at.
const MOST_COMMITS: u64 = 5_000_000;
/// Bytes of paths that one push may change.
const LONGEST_LISTING: u64 = 256 << 20;

/// The arriving objects of one push.
#[derive(Clone, Debug)]
pub struct Incoming {
    git: Git,
    repo: RepoPath,
    objects: Option<PathBuf>,
}

impl Incoming {
    /// `quarantine` is what git calls the folder; a push that only deletes has none.
    ///
    /// # Errors
    /// When the folder is not one that git makes inside this repository.
    pub fn new(git: &Git, repo: &RepoPath, quarantine: Option<&Path>) -> Result<Self> {
        let objects = match quarantine {
            None => None,
            Some(path) => {
                let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
                if !name.starts_with(QUARANTINE) {
                    return Err(GitError::Corrupt("a push has no quarantine".to_owned()));
                }
                Some(repo.as_path().join("objects").join(name))
            }
        };
        Ok(Self { git: git.clone(), repo: repo.clone(), objects })
    }

    /// What is in the repository already: the objects of a write by the API.
    pub fn settled(git: &Git, repo: &RepoPath) -> Self {
        Self { git: git.clone(), repo: repo.clone(), objects: None }
    }

    pub fn repo(&self) -> &RepoPath {
        &self.repo
    }

    /// The commits that no branch or tag has yet, newest first.
    pub async fn new_commits(&self, tips: &[Oid]) -> Result<Vec<Oid>> {
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let tips: String = tips.iter().map(|id| format!("{id}\n")).collect();
        // What notes or the server itself have kept may never have been looked at.
        let hidden = ["--exclude=refs/notes/*", "--exclude=refs/keep-around/*"];
        let call = self.call("rev-list").args(["--stdin", "--not"]).args(hidden).arg("--all");
        let listing =
            call.output_limit(MOST_COMMITS * 41).input(tips.into_bytes()).succeed().await?;
        let lines = ByteSlice::lines(listing.as_slice());
        lines.map(|line| line.to_str().map_err(GitError::corrupt)?.parse()).collect()
    }

    /// The folders into which the objects will move when the push is accepted.
    pub async fn folders(&self) -> Result<Vec<PathBuf>> {
        let Some(objects) = &self.objects else { return Ok(Vec::new()) };
        let home = self.repo.as_path().join("objects");
        let mut folders = vec![home.clone()];
        let mut entries = tokio::fs::read_dir(objects).await?;
        while let Some(entry) = entries.next_entry().await? {
            if entry.file_type().await?.is_dir() {
                folders.push(home.join(entry.file_name()));
            }
        }
        Ok(folders)
    }

    /// An arriving object of more than `limit` bytes, where there is one. A small pack can hold a huge one.
    pub async fn oversized(&self, limit: u64) -> Result<Option<(Oid, u64)>> {
        let Some(objects) = &self.objects else { return Ok(None) };
        let mut listing = self
            .git
            .at(&self.repo, "cat-file")
            .env("GIT_OBJECT_DIRECTORY", objects)
            .args(["--batch-all-objects", "--unordered", "--buffer"])
            .arg("--batch-check=%(objectsize) %(objectname)")
            .start()
            .await?;
        let Some(stdout) = listing.stdout.take() else { return Ok(None) };
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await? {
            let Some((size, id)) = line.split_once(' ') else { continue };
            let size: u64 = size.parse().map_err(GitError::corrupt)?;
            if size > limit {
                return Ok(Some((id.parse()?, size)));
            }
        }
        listing.finish().await?;
        Ok(None)
    }

    /// What each ref's way looks like, or why it cannot move. `base` tells from where a new branch is measured; from
    /// nothing, all its commits count.
    pub async fn changes(
        &self,
        named: Vec<(RefName, Option<Oid>, Option<Oid>)>,
        base: impl Fn(&RefName) -> Option<Oid>,
    ) -> Result<Vec<Result<RefChange, (RefName, String)>>> {
        let ways: Vec<RefRange> = named
            .into_iter()
            .map(|(name, old, new)| RefRange { base: old.or_else(|| base(&name)), name, old, new })
            .collect();
        let (sight, deadline) = (self.clone(), Deadline::after(self.git.time_limit()));
        in_background(move || {
            let sight = sight.sight()?;
            let mut survey = RefSurvey::new(sight.reader(), deadline);
            ways.into_iter().map(|way| survey.change(way)).collect()
        })
        .await
    }

    /// Opens what has arrived together with what was there before.
    pub(super) fn sight(&self) -> Result<PushReader> {
        Ok(match &self.objects {
            None => PushReader::Settled(Reader::open_uncached(&self.repo)?),
            Some(objects) => PushReader::Arriving(OverlayReader::new(&self.repo, &[objects])?),
        })
    }

    /// What the file of code owners says at a commit; nothing where there is none.
    pub(super) async fn code_owners(&self, at: Oid) -> Result<CodeOwners> {
        for place in code_owners::PLACES {
            let call = self.call("cat-file").arg("blob").arg(format!("{at}:{place}"));
            match call.output_limit(code_owners::LARGEST).output().await {
                Ok(output) if output.status.success() => {
                    return Ok(CodeOwners::parse(&output.stdout.to_str_lossy()));
                }
                Ok(_absent) => {}
                Err(GitError::TooLarge) => break,
                Err(failure) => return Err(failure),
            }
        }
        Ok(CodeOwners::default())
    }

    /// The paths that differ between two commits.
    pub(crate) async fn changed_paths(&self, from: Oid, to: Oid) -> Result<BTreeSet<String>> {
        let call = self.call("diff-tree").args(["-r", "-z", "--name-only", "--no-renames"]);
        let listing = call.id(from).id(to).output_limit(LONGEST_LISTING).succeed().await?;
        let paths = listing.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| path.to_str_lossy().into_owned()).collect())
    }

    fn call(&self, subcommand: &'static str) -> Call {
        let call = self.git.at(&self.repo, subcommand);
        match &self.objects {
            None => call,
            Some(objects) => call
                .env("GIT_OBJECT_DIRECTORY", objects)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.repo)),
        }
    }
}

/// The reader of a push's commits.
pub(super) enum PushReader {
    Settled(Reader),
    Arriving(OverlayReader),
}

impl PushReader {
    pub(super) fn reader(&self) -> &Reader {
        match self {
            Self::Settled(reader) => reader,
            Self::Arriving(joined) => joined.reader(),
        }
    }
}

pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking(work).await.map_err(GitError::corrupt)?
}

/// A list of one folder, as git reads lists of folders: a name with a colon in it must stand in quotes.
fn quoted(repo: &RepoPath) -> std::ffi::OsString {
    let objects = repo.as_path().join("objects");
    let plain = objects.as_os_str();
    if !plain.as_encoded_bytes().iter().any(|byte| b":\"\n".contains(byte)) {
        return plain.to_owned();
    }
    let escaped = plain.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n")).into()
}

/// Whether refs of this name are the client's business at all.
pub fn is_open_to_pushes(name: &BStr) -> bool {
    ["refs/heads/", "refs/tags/", "refs/notes/"].iter().any(|top| name.starts_with(top.as_bytes()))
}

/// The name of a ref that clients may push, or a sentence that says why not.
pub fn pushable(command: &RefCommand) -> std::result::Result<RefName, String> {
    let name = command.name.as_bstr();
    let Ok(text) = name.to_str() else {
        return Err(format!("The name {name:?} is not valid UTF-8. Please choose another one."));
    };
    if !is_open_to_pushes(name) {
        return Err(format!("{text} cannot be pushed: only branches, tags and notes can."));
    }
    if command.new.is_some() && is_object_id(name) {
        return Err(LOOKS_LIKE_ID.to_owned());
    }
    let valid = RefName::full(name);
    match (command.old, command.new) {
        (None, Some(_)) => valid.and_then(RefName::for_new_ref),
        // What is there already may move and go, whatever it is called.
        _ => valid,
    }
    .map_err(|_invalid| format!("{text} is not a valid name. Please choose another one."))
}

fn is_object_id(name: &BStr) -> bool {
    let short = name.strip_prefix(b"refs/heads/").unwrap_or_default();
    short.len() == 40 && short.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::pushable;
    use crate::git::{Oid, hook::RefCommand};

    fn ask(name: &[u8], new: Option<Oid>) -> Result<String, String> {
        pushable(&RefCommand { name: name.into(), old: None, new }).map(|name| name.to_string())
    }

    #[test]
    fn branches_tags_and_notes_can_be_pushed() {
        for name in ["refs/heads/a/b", "refs/tags/v1", "refs/notes/commits", "refs/heads/ü"] {
            assert_eq!(ask(name.as_bytes(), Some(Oid::EMPTY_TREE)).as_deref(), Ok(name));
        }
    }

    #[test]
    fn other_names_are_refused_in_a_sentence() {
        for (name, part) in [
            (&b"refs/heads/\xff"[..], "UTF-8"),
            (b"refs/keep-around/x", "only branches, tags and notes"),
            (b"refs/merge-requests/1/head", "only branches, tags and notes"),
            (b"refs/heads/-x", "not a valid name"),
            (b"refs/heads/HEAD", "not a valid name"),
            (b"refs/tags/--output=x", "not a valid name"),
            (b"refs/heads/refs/heads/main", "not a valid name"),
            (b"refs/tags/refs/tags/v1", "not a valid name"),
            (b"refs/heads/@", "not a valid name"),
            (b"refs/heads/4b825dc642cb6eb9a060e54bf8d69288fbee4904", "40-character hexadecimal"),
        ] {
            let told = ask(name, Some(Oid::EMPTY_TREE)).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn a_badly_named_branch_can_still_go() {
        assert!(ask(b"refs/heads/-x", None).is_ok());
        assert!(ask(b"refs/keep-around/x", None).is_err());
        assert!(ask(b"refs/heads/../../HEAD", None).is_err());
    }
}
