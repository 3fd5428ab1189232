//! Merge requests and git: what a push does to them, whether git can merge them, and the merge itself.

mod accept;
mod after_merge;
mod after_push;
mod closing_commits;
mod mergeability;
mod messages;
mod rebase;
mod resync;
mod run;
mod unlock;

pub use accept::{
    MergeOptions, RunAutoMerge, accept, cancel, merge_waiting, merge_waiting_for,
    wait_for_pipeline, wake,
};
pub use after_merge::{
    FinishMerge, RefreshCloses, finish_merge, refresh_closed_issues, run_pending,
};
pub use after_push::{
    CheckBranchMergeability, FollowPush, Follower, check_after_push, follow_push, hold_touched,
    proposed_by, record_push,
};
pub use closing_commits::{CloseIssuesOfCommits, close_named, enqueue_closing};
pub(crate) use mergeability::MergeInputs;
pub use mergeability::{
    CheckMergeability, NamedProjects, check_heads, check_mergeability, checked, ensure_may_merge,
    facts, head_pipeline, may_merge, recheck, stands,
};
pub use messages::{DefaultMessages, default_messages};
pub use rebase::{merge_ref, rebase};
pub use resync::resync_with_git;
pub use unlock::{RecoverAfterMerge, UnlockMerges, recover, unlock_merges, unlock_stale_merges};
