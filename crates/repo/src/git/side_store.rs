//! An object folder beside a repository's own, in which git merges; its result exists only in memory until it is written.

use std::{
    collections::HashSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use bstr::ByteSlice as _;
use flate2::read::ZlibDecoder;
use gix::objs::Kind;
use tempfile::TempDir;

use super::{
    GitError, Oid, RepoPath, Signature, TreePath, blocking::blocking, cli::Git,
    commit_object::CommitText, objects::NewObjects,
};

/// A clean result. Until it is written it exists only in memory.
pub struct CleanMerge {
    pub tree: Oid,
    objects: NewObjects,
}

impl CleanMerge {
    /// Makes a commit and everything it needs durable. Its tree should be this one.
    pub async fn commit(
        self,
        git: &Git,
        repo: &RepoPath,
        text: &CommitText,
    ) -> Result<Oid, GitError> {
        Ok(self.store(git, repo, text).await?.0)
    }

    /// As [`commit`](Self::commit); tells also how many bytes were written.
    pub(crate) async fn store(
        mut self,
        git: &Git,
        repo: &RepoPath,
        text: &CommitText,
    ) -> Result<(Oid, i64), GitError> {
        let id = text.write(&mut self.objects)?;
        let bytes = self.objects.persist(git, repo).await?;
        Ok((id, bytes))
    }
}

/// Commits that are there only so that git has something to merge.
#[derive(Default)]
pub(super) struct Helpers(HashSet<Oid>);

/// An object folder of its own, above the repository's: git reads both and writes only here.
pub(super) struct SideStore {
    folder: TempDir,
}

impl SideStore {
    pub(super) async fn new(repo: &RepoPath) -> Result<Self, GitError> {
        let repo = repo.clone();
        blocking(move || {
            let folder = tempfile::Builder::new().prefix(SIDE_STORE).tempdir_in(repo.as_path())?;
            let info = folder.path().join("info");
            fs::create_dir(&info)?;
            fs::write(info.join("alternates"), b"../objects\n")?;
            Ok(Self { folder })
        })
        .await
    }

    /// Merges the trees base, ours and theirs. Git before 2.45 takes the base only from history, so each side becomes
    /// a commit whose one parent is the base; they stay here.
    pub(super) async fn three_way(
        &mut self,
        git: &Git,
        repo: &RepoPath,
        (base, ours, theirs): (Oid, Oid, Oid),
        helpers: &mut Helpers,
    ) -> Result<Oid, GitError> {
        let mut objects = NewObjects::default();
        let nobody = Signature { name: "merge".to_owned(), email: String::new(), at: 0, offset: 0 };
        let mut commit = |tree, parents| {
            let (author, committer) = (nobody.clone(), nobody.clone());
            CommitText { tree, parents, author, committer, message: String::new() }
                .write(&mut objects)
        };
        let base = commit(base, Vec::new())?;
        let ours = commit(ours, vec![base])?;
        let theirs = commit(theirs, vec![base])?;
        helpers.0.extend([base, ours, theirs]);
        // The empty tree is known to git even where it is not stored.
        self.put(objects).await?;
        self.merge_tree(git, repo, ours, theirs).await
    }

    /// A commit that is to stay, if the whole work does.
    pub(super) async fn write(&mut self, text: &CommitText) -> Result<Oid, GitError> {
        let mut objects = NewObjects::default();
        let id = text.write(&mut objects)?;
        self.put(objects).await?;
        Ok(id)
    }

    async fn put(&self, objects: NewObjects) -> Result<(), GitError> {
        let folder = self.folder.path().to_path_buf();
        blocking(move || objects.write_loose(&folder).map(drop)).await
    }

    pub(super) async fn merge_tree(
        &self,
        git: &Git,
        repo: &RepoPath,
        ours: Oid,
        theirs: Oid,
    ) -> Result<Oid, GitError> {
        let output = git
            .at(repo, "merge-tree")
            .config("core.fsync=none")
            .env("GIT_OBJECT_DIRECTORY", self.folder.path())
            .args(["--write-tree", "-z", "--name-only", "--no-messages"])
            .id(ours)
            .id(theirs)
            .output()
            .await?;
        let mut parts = output.stdout.split_str("\0").filter(|part| !part.is_empty());
        match (output.status.code(), parts.next()) {
            (Some(0), Some(tree)) => tree.to_str_lossy().parse(),
            (Some(1), Some(_)) => Err(GitError::Conflict(parts.map(TreePath::stored).collect())),
            _ if output.stderr.contains("unrelated histories") => {
                Err(GitError::Conflict(Vec::new()))
            }
            _ => Err(output.failure("merge-tree")),
        }
    }

    /// Reads what git wrote, without the helpers of the merge itself.
    pub(super) async fn take(self, tree: Oid, helpers: &Helpers) -> Result<CleanMerge, GitError> {
        let objects = self.objects(helpers).await?;
        Ok(CleanMerge { tree, objects })
    }

    /// Makes everything durable that was written here, but the helpers. Tells how many bytes that are.
    pub(super) async fn keep(
        self,
        git: &Git,
        repo: &RepoPath,
        helpers: &Helpers,
    ) -> Result<i64, GitError> {
        self.objects(helpers).await?.persist(git, repo).await
    }

    async fn objects(self, helpers: &Helpers) -> Result<NewObjects, GitError> {
        let helpers = helpers.0.clone();
        blocking(move || {
            let mut objects = NewObjects::default();
            for (id, file) in loose_files(self.folder.path())? {
                if !helpers.contains(&id) {
                    let (kind, body) = read_loose(&file)?;
                    objects.add(kind, body)?;
                }
            }
            Ok(objects)
        })
        .await
    }
}

/// What the folders of merges in progress are called; older ones are leftovers of a crash.
pub(super) const SIDE_STORE: &str = "merge-";

fn loose_files(folder: &Path) -> Result<Vec<(Oid, PathBuf)>, GitError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let fan_out = entry.file_name().to_string_lossy().into_owned();
        if fan_out.len() != 2 {
            continue;
        }
        for entry in fs::read_dir(entry.path())? {
            let entry = entry?;
            let name = format!("{fan_out}{}", entry.file_name().to_string_lossy());
            if let Ok(id) = name.parse() {
                found.push((id, entry.path()));
            }
        }
    }
    Ok(found)
}

fn read_loose(file: &Path) -> Result<(Kind, Vec<u8>), GitError> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(fs::File::open(file)?).read_to_end(&mut bytes)?;
    let (kind, _, header) = gix::objs::decode::loose_header(&bytes).map_err(GitError::corrupt)?;
    Ok((kind, bytes.split_off(header)))
}
