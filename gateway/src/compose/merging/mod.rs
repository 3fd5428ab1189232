//! Merge requests and git: what a push does to them, whether git can merge them, and the merge itself.

mod accept;
mod automatic;
mod finish;
mod follow;
mod look;
mod named;
mod rebase;
mod renew;
mod run;
mod settle;
mod words;

pub use accept::{Wish, accept, ensure_may_merge};
pub use automatic::{MergeWaiting, cancel, merge_waiting, merge_waiting_for, wake};
pub use finish::{FinishMerge, RefreshCloses, finish_merge, refresh_closed_issues};
pub use follow::{FollowPush, Follower, LookInto, follow_push, hold_touched, look_into, note_push};
pub(crate) use look::Sides;
pub use look::{
    LookAt, NamedProjects, checked, facts, head_pipeline, look, look_at, recheck, stands,
};
pub use named::{CloseNamed, close_named, promise_to_close};
pub use rebase::{merge_ref, rebase};
pub use renew::catch_up;
pub use run::{LookAfter, UnlockMerges, look_after, unlock_left_behind, unlock_merges};
pub use settle::settle;
