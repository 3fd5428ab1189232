//! Reading a repository in process. Every method blocks; the gateway calls them on blocking threads.

mod ancestry;
mod blob;
mod branch_commits;
mod changed_paths;
mod commit_cache;
mod commits;
mod contributors;
pub mod diff;
mod diff_limits;
mod files;
mod graph;
mod languages;
mod log;
mod new_commits;
mod overlay;
mod path_filter;
mod refs;
mod resolve;
mod signature;
mod tree;
mod walk;

use std::sync::{Arc, PoisonError, RwLock};

use gix::{ObjectId, objs::Kind};

pub use blob::BlobInfo;
pub use branch_commits::BranchCommits;
use changed_paths::{ChangedPaths, Stamp};
use commit_cache::CommitCache;
pub use contributors::Contributor;
pub use diff_limits::DiffLimits;
pub use languages::language_of;
pub use log::{LogQuery, Order, Tips};
pub use new_commits::{AddedFile, RawCommit};
pub use overlay::OverlayReader;
pub(super) use refs::exactly;
pub use refs::{RefInfo, TagInfo};
pub use resolve::Range;
pub use signature::SignedObject;
pub use tree::TreePage;

use super::{
    CommitInfo, GitError, Oid, RepoPath, Result,
    cache::{Cache, Key},
    commit_tree::sound_tree_of,
    open::open_shared,
};

/// How many repositories stay open, for their mapped packs.
const OPEN_REPOSITORIES: u64 = 1024;
const OBJECT_CACHE_BYTES: usize = 32 << 20;
const MOST_TAGS_OF_TAGS: usize = 32;
/// Filters of changed paths that are kept, of all repositories together.
const CHANGED_PATHS_BYTES: u64 = 256 << 20;

/// The open repositories of one process. Cheap to clone.
#[derive(Clone)]
pub struct Repositories {
    open: Cache<RepoPath, Arc<gix::ThreadSafeRepository>>,
    changed_paths: ChangedPathsCache,
    commits: CommitCache,
    diff_limits: Arc<RwLock<DiffLimits>>,
}

type ChangedPathsCache = Cache<RepoPath, Arc<(Stamp, Arc<ChangedPaths>)>>;

impl Default for Repositories {
    fn default() -> Self {
        let bytes = |_: &Key, entry: &Arc<(Stamp, Arc<ChangedPaths>)>| entry.1.bytes();
        Self {
            open: Cache::new(OPEN_REPOSITORIES),
            changed_paths: Cache::with_weights(CHANGED_PATHS_BYTES, bytes),
            commits: CommitCache::default(),
            diff_limits: Arc::default(),
        }
    }
}

impl Repositories {
    pub fn open(&self, path: &RepoPath) -> Result<Reader> {
        let shared = self.open.get_or_insert(path.clone(), || Ok(Arc::new(open_shared(path)?)))?;
        let mut repo = shared.to_thread_local();
        repo.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
        Ok(Reader {
            repo,
            path: path.clone(),
            changed_paths: self.changed_paths.clone(),
            commits: self.commits.clone(),
            diff_limits: *self.diff_limits.read().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// Sets the limits of diffs that are shown, for whoever opens a repository from now on.
    pub fn limit_diffs(&self, limits: DiffLimits) {
        *self.diff_limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// A commit that was read lately by [`shared_commit`](Reader::shared_commit), without a look at the repository.
    pub fn known_commit(&self, path: &RepoPath, id: Oid) -> Option<Arc<CommitInfo>> {
        self.commits.get(path, id)
    }

    /// Closes a repository that was deleted, or whose configuration changed.
    pub fn forget(&self, path: &RepoPath) {
        self.open.invalidate(path.clone());
        self.changed_paths.invalidate(path.clone());
    }
}

/// One repository, for the length of one request.
pub struct Reader {
    repo: gix::Repository,
    path: RepoPath,
    changed_paths: ChangedPathsCache,
    commits: CommitCache,
    diff_limits: DiffLimits,
}

impl Reader {
    /// Opens a repository for one look, without keeping it open for others.
    pub fn open_uncached(path: &RepoPath) -> Result<Self> {
        Repositories::default().open(path)
    }

    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// The limits of diffs that are shown.
    pub fn diff_limits(&self) -> DiffLimits {
        self.diff_limits
    }

    /// Whether an object is there, of whatever kind.
    pub fn has(&self, id: Oid) -> bool {
        self.repo.has_object(id.gix())
    }

    /// Whether a commit and its tree can be read, and are what their names say.
    pub fn is_sound(&self, commit: Oid) -> bool {
        matches!(sound_tree_of(&self.repo, commit), Ok(Some(_)))
    }

    fn object(&self, id: ObjectId) -> Result<gix::Object<'_>> {
        self.repo.try_find_object(id)?.ok_or(GitError::NotFound)
    }

    /// The object's kind and inflated size, without inflating it.
    fn header(&self, id: ObjectId) -> Result<(Kind, u64)> {
        let header = self.repo.try_find_header(id)?.ok_or(GitError::NotFound)?;
        Ok((header.kind(), header.size()))
    }

    /// Follows annotated tags, and tags of tags, to a commit.
    fn peel_to_commit(&self, id: ObjectId) -> Result<ObjectId> {
        self.peel(id)?.ok_or(GitError::NotFound)
    }

    /// As [`peel_to_commit`](Self::peel_to_commit); nothing where the way ends at a tree or a blob.
    fn peel(&self, mut id: ObjectId) -> Result<Option<ObjectId>> {
        for _ in 0..MOST_TAGS_OF_TAGS {
            match self.header(id)?.0 {
                Kind::Commit => return Ok(Some(id)),
                Kind::Tag => id = self.object(id)?.try_to_tag_ref()?.target(),
                Kind::Tree | Kind::Blob => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The tree of a commit or tag, or the tree itself.
    fn tree_of(&self, id: ObjectId) -> Result<ObjectId> {
        if self.header(id)?.0 == Kind::Tree {
            return Ok(id);
        }
        let commit = self.object(self.peel_to_commit(id)?)?;
        Ok(commit.try_to_commit_ref()?.tree())
    }

    fn changed_paths(&self) -> Arc<ChangedPaths> {
        let Some(stamp) = Stamp::of(self.path.as_path()) else { return Arc::default() };
        match self.changed_paths.get(self.path.clone()) {
            Some(entry) if entry.0 == stamp => Arc::clone(&entry.1),
            _ => {
                let changed = Arc::new(ChangedPaths::read(self.path.as_path()));
                let entry = Arc::new((stamp, Arc::clone(&changed)));
                self.changed_paths.insert(self.path.clone(), entry);
                changed
            }
        }
    }

    /// How many bytes the repository takes on disk.
    pub fn disk_size(&self) -> Result<u64> {
        files::size_of(self.path.as_path())
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Reader").field(&self.path).finish()
    }
}
