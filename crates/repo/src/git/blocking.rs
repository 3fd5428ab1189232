//! Work with files, off the threads that answer requests.

use kernel::task::{JoinHandle, spawn_blocking};

use super::GitError;

/// Runs file work where it does not hold up other requests.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    answer_of(spawn_blocking(work)).await
}

/// It knows the answer and not the work, so that it is compiled once for each answer.
async fn answer_of<T: 'static>(work: JoinHandle<Result<T, GitError>>) -> Result<T, GitError> {
    work.await.map_err(GitError::corrupt)?
}
