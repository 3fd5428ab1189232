//! What a git client wants to push, read while its objects are still in quarantine.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::RefChange;
use crate::{
    code_owners::{self, CodeOwners},
    git::{
        Git, GitError, Oid, RefName, RepoPath, Result, cli::Call, hook::Asked,
        quarantine::QUARANTINE,
    },
    protection::rules::LOOKS_LIKE_ID,
};

/// New commits are counted no further.
pub(super) const MOST_COUNTED: i64 = 100_000;
const COUNTED: &str = "--max-count=100000";
/// Of so many refs; a push of more is nobody's daily work.
const COUNTED_REFS: usize = 500;
/// A push of more new commits is refused where they must be looked at.
const MOST_COMMITS: u64 = 5_000_000;
const LONGEST_TITLE: usize = 255;
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

    /// The quarantine.
    pub fn objects(&self) -> Option<&Path> {
        self.objects.as_deref()
    }

    /// The commits that no branch or tag has yet, newest first.
    pub async fn new_commits(&self, tips: &[Oid]) -> Result<Vec<Oid>> {
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let tips: String = tips.iter().map(|id| format!("{id}\n")).collect();
        let call =
            self.call("rev-list").args(["--stdin", "--not", "--exclude=refs/notes/*", "--all"]);
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

    /// What each ref's way looks like. `base` tells from where a new branch is measured; from nothing, all its commits
    /// count.
    pub async fn changes(
        &self,
        asked: Vec<(RefName, Option<Oid>, Option<Oid>)>,
        base: impl Fn(&RefName) -> Option<Oid>,
    ) -> Result<Vec<RefChange>> {
        let new: Vec<Oid> = asked.iter().filter_map(|(_, _, new)| *new).collect();
        let commits = self.commits(&new).await?;
        let titles = self.titles(commits.values().copied()).await?;
        let mut changes = Vec::with_capacity(asked.len());
        for (place, (name, old, new)) in asked.into_iter().enumerate() {
            let mut change = RefChange::plain(name, old, new);
            let tip = new.and_then(|id| commits.get(&id).copied());
            change.commit_title = tip.and_then(|id| titles.get(&id).cloned());
            if let Some(tip) = tip {
                change.commit_count = match change.name.is_branch() {
                    true if place < COUNTED_REFS => {
                        let from = old.or_else(|| base(&change.name));
                        self.count(tip, from).await?
                    }
                    true => 0,
                    false => i64::from(change.name.is_tag()),
                };
            }
            if let (Some(old), Some(new)) = (old, new) {
                change.forced = !self.contains(new, old).await?;
            }
            changes.push(change);
        }
        Ok(changes)
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
    pub(super) async fn changed_paths(&self, from: Oid, to: Oid) -> Result<BTreeSet<String>> {
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

    /// The commits that these objects are, or that the tags among them name.
    async fn commits(&self, ids: &[Oid]) -> Result<HashMap<Oid, Oid>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let questions: String = ids.iter().map(|id| format!("{id}^{{commit}}\n")).collect();
        let call = self.call("cat-file").args(["--buffer", "--batch-check=%(objectname)"]);
        let answers = call.input(questions.into_bytes()).succeed().await?;
        let found = ids.iter().zip(ByteSlice::lines(answers.as_slice()));
        Ok(found.filter_map(|(id, line)| Some((*id, line.to_str().ok()?.parse().ok()?))).collect())
    }

    async fn titles(&self, commits: impl Iterator<Item = Oid>) -> Result<HashMap<Oid, String>> {
        let wanted: String = commits.map(|id| format!("{id}\n")).collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let call = self.call("log").args(["--no-walk=unsorted", "--format=%H %s", "--stdin"]);
        let listing = call.input(wanted.into_bytes()).succeed().await?;
        let title = |text: &[u8]| text.to_str_lossy().chars().take(LONGEST_TITLE).collect();
        let lines = ByteSlice::lines(listing.as_slice());
        Ok(lines
            .filter_map(|line| {
                let (id, text) = line.split_once_str(" ")?;
                Some((id.to_str().ok()?.parse().ok()?, title(text)))
            })
            .collect())
    }

    /// How many commits of `tip` are not also commits of `base`.
    async fn count(&self, tip: Oid, base: Option<Oid>) -> Result<i64> {
        let mut call = self.call("rev-list").args(["--count", COUNTED]).id(tip);
        if let Some(base) = base {
            call = call.arg("--not").id(base);
        }
        let answer = call.succeed().await?;
        answer.to_str_lossy().trim().parse().map_err(GitError::corrupt)
    }

    /// Whether `old` is part of the history of `new`. Things that have no history never are.
    async fn contains(&self, new: Oid, old: Oid) -> Result<bool> {
        let call = self.call("merge-base").arg("--is-ancestor").id(old).id(new);
        Ok(call.output().await?.status.success())
    }
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

/// The name of a ref that clients may push, or a sentence that says why not.
pub fn pushable(asked: &Asked) -> std::result::Result<RefName, String> {
    let name = asked.name.as_bstr();
    let Ok(text) = name.to_str() else {
        return Err(format!("The name {name:?} is not valid UTF-8. Please choose another one."));
    };
    if !["refs/heads/", "refs/tags/", "refs/notes/"].iter().any(|top| text.starts_with(top)) {
        return Err(format!("{text} cannot be pushed: only branches, tags and notes can."));
    }
    // What is there already may go, whatever it is called.
    if asked.new.is_none() {
        return Ok(RefName::stored(name));
    }
    if is_object_id(name) {
        return Err(LOOKS_LIKE_ID.to_owned());
    }
    let valid = RefName::full(name);
    match asked.old {
        Some(_) => valid,
        None => valid.and_then(RefName::for_new_ref),
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
    use crate::git::{Oid, hook::Asked};

    fn ask(name: &[u8], new: Option<Oid>) -> Result<String, String> {
        pushable(&Asked { name: name.into(), old: None, new }).map(|name| name.to_string())
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
    }
}
