//! Merge requests and git: what a push does to them, whether git can merge them, and the merge itself.

mod accept;
mod after_merge;
mod after_push;
mod auto_merge;
mod closing_commits;
mod mergeability;
mod messages;
mod pending_work;
mod permission;
mod rebase;
mod resync;
mod row;
mod run;
mod unlock;

pub use accept::{MergeOptions, accept};
pub use after_merge::{FinishMerge, RefreshCloses, finish_merge, refresh_closed_issues};
pub use after_push::{
    FollowPush, Follower, LookInto, check_after_push, follow_push, hold_touched, proposed_by,
    record_push,
};
pub use auto_merge::{
    RunAutoMerge, cancel, merge_waiting, merge_waiting_for, wait_for_pipeline, wake,
};
pub use closing_commits::{CloseIssuesOfCommits, close_named, enqueue_closing};
pub(crate) use mergeability::Sides;
pub use mergeability::{
    LookAt, NamedProjects, check_heads, check_mergeability, checked, facts, head_pipeline, recheck,
    stands,
};
pub use messages::{DefaultMessages, default_messages};
pub use pending_work::settle;
pub use permission::{ensure_may_merge, may_merge};
pub use rebase::{merge_ref, rebase};
pub use resync::resync_with_git;
pub use unlock::{RecoverAfterMerge, UnlockMerges, recover, unlock_left_behind, unlock_merges};
