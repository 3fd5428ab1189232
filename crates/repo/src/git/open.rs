//! Opening repositories, with the settings that all reading rests on.

use std::path::Path;

use super::{GitError, RepoPath, Result};

/// No object beyond this is taken into memory; blobs above a far lower limit are streamed.
const LARGEST_OBJECT: &str = "gitoxide.objects.allocLimit=256m";
/// Anybody may push a ref below `refs/replace/`; it must not make others read something else.
const NO_REPLACEMENTS: &str = "core.useReplaceRefs=false";

/// A repository whose handle many may share.
pub(super) fn open_shared(path: &RepoPath) -> Result<gix::ThreadSafeRepository> {
    if !path.as_path().join("HEAD").is_file() {
        return Err(GitError::NotFound);
    }
    open_folder(path.as_path())
}

pub(super) fn open_folder(folder: &Path) -> Result<gix::ThreadSafeRepository> {
    let options = gix::open::Options::isolated()
        .config_overrides([LARGEST_OBJECT, NO_REPLACEMENTS])
        .open_path_as_is(true);
    Ok(gix::ThreadSafeRepository::open_opts(folder, options)?)
}

/// A handle for one write, which wants to see what is on disk now.
pub(super) fn open(repo: &RepoPath) -> Result<gix::Repository> {
    Ok(open_shared(repo)?.to_thread_local())
}

impl From<gix::Error> for GitError {
    fn from(error: gix::Error) -> Self {
        Self::corrupt(error)
    }
}
