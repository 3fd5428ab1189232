//! What led to the work that is done now: known to every transaction of it.

use std::sync::Arc;

tokio::task_local! {
    static CAUSE: Arc<str>;
}

/// Does something whose transactions know what led to it.
pub async fn caused_by<T>(cause: Option<Arc<str>>, work: impl Future<Output = T>) -> T {
    match cause {
        Some(cause) => CAUSE.scope(cause, work).await,
        None => work.await,
    }
}

pub(crate) fn current() -> Option<Arc<str>> {
    CAUSE.try_with(Arc::clone).ok()
}
