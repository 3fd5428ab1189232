//! Work with files, off the threads that answer requests.

use tokio::task::spawn_blocking;

use super::GitError;

/// Runs file work where it does not hold up other requests.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    spawn_blocking(work).await.map_err(GitError::corrupt)?
}
