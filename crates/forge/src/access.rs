//! Changes of who may do what, and what others wait for because of them.

use std::sync::atomic::Ordering;

use worker::Job as _;

use crate::{Forge, merge_request::approvals::RecomputeApprovals};

/// The version of a user's access at the start of a piece of work.
#[derive(Clone, Copy, Debug)]
pub struct AccessWatch(u64);

impl Forge {
    /// To be asked before work that may change who may do what.
    pub fn watch_access(&self) -> AccessWatch {
        AccessWatch(self.access_changes.load(Ordering::Acquire))
    }

    /// Does what follows from changes of access since then, so that the answer to a change finds it done: approvals that
    /// wait to be weighed are. What a worker has begun is waited for; what fails is tried again later.
    pub async fn follow_access(&self, since: AccessWatch) {
        if self.watch_access().0 == since.0 {
            return;
        }
        let keys = vec![RecomputeApprovals::KIND.to_owned()];
        if let Err(failure) = self.worker().run_now_and_wait(keys).await {
            tracing::error!(error = %failure, "approvals wait to be weighed");
        }
    }
}
