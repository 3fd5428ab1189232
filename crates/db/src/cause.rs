//! The cause of the work being done, known to every transaction of it.

use std::{pin::Pin, sync::Arc};

use kernel::task::{self, JoinHandle};

use crate::origin::{self, with_origin};

tokio::task_local! {
    static CAUSE: Option<Arc<str>>;
}

/// Does something whose transactions know what led to it, and nothing of what led to the caller.
pub async fn caused_by<T>(cause: Option<Arc<str>>, work: impl Future<Output = T>) -> T {
    CAUSE.scope(cause, work).await
}

/// Starts a task whose transactions know what led to the caller, and who asked for it.
pub fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    spawn_boxed(Box::pin(work))
}

/// What starting a task comes to for every task with such an answer.
fn spawn_boxed<T: Send + 'static>(work: Pin<Box<dyn Future<Output = T> + Send>>) -> JoinHandle<T> {
    task::spawn(caused_by(current(), with_origin(origin::current(), work)))
}

pub(crate) fn current() -> Option<Arc<str>> {
    CAUSE.try_with(Clone::clone).ok().flatten()
}
