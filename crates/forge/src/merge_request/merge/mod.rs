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

pub use accept::{Wish, accept};
pub use after_merge::{FinishMerge, RefreshCloses, finish_merge, refresh_closed_issues};
pub use after_push::{
    FollowPush, Follower, LookInto, follow_push, hold_touched, look_into, note_push, proposed_by,
};
pub use auto_merge::{
    MergeWaiting, cancel, merge_waiting, merge_waiting_for, wait_for_pipeline, wake,
};
pub use closing_commits::{CloseNamed, close_named, promise_to_close};
pub(crate) use mergeability::Sides;
pub use mergeability::{
    LookAt, NamedProjects, checked, facts, head_pipeline, look, look_at, recheck, stands,
};
pub use pending_work::settle;
pub use permission::{ensure_may_merge, may_merge};
pub use rebase::{merge_ref, rebase};
pub use resync::catch_up;
pub use unlock::{LookAfter, UnlockMerges, look_after, unlock_left_behind, unlock_merges};
