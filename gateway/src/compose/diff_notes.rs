//! What is said about lines of merge requests: the diff is asked whether it shows them.

use kernel::{Error, Result, ids::ProjectId};
use repo::{
    commit::read::deadline,
    git::{DiffLimits, FileDiff, GitError, Oid},
};
use review::note::position::{FileHunks, Position, no_line};

use crate::app::App;

/// # Errors
/// `BadRequest` for a place that the diff between its commits does not have.
pub async fn ensure_shown(app: &App, project: ProjectId, position: &Position) -> Result<()> {
    position.ensure_complete()?;
    let commit = |text: &str| text.parse::<Oid>().map_err(|_no_commit| no_line());
    let (base, head) = (commit(&position.base_sha)?, commit(&position.head_sha)?);
    let position = position.clone();
    let read = app.git_read(project, move |reader| {
        let files = match reader.diff(Some(base), head, DiffLimits::default(), deadline()) {
            Err(GitError::NotFound) => return Err(no_line()),
            compared => compared?,
        };
        shown(&files, &position)
    });
    match read.await {
        Err(Error::NotFound(_)) => Err(no_line()),
        read => read,
    }
}

fn shown(files: &[FileDiff], position: &Position) -> Result<()> {
    let paths: Vec<_> =
        files.iter().map(|file| (file.old_path.to_text(), file.new_path.to_text())).collect();
    let hunks: Vec<FileHunks<'_>> = files
        .iter()
        .zip(&paths)
        .map(|(file, (old, new))| FileHunks { old_path: old, new_path: new, hunks: &file.text })
        .collect();
    position.line_code(&hunks).map(drop)
}
