//! To-dos.

pub mod actions;
mod model;
pub mod open_counts;
mod state;
mod store;

pub use model::Todo;
pub use state::TodoStep;
pub use store::TodoStore;

kernel::text_enum! {
    /// The reason for a to-do.
    pub enum TodoAction {
        Assigned = "assigned",
        Mentioned = "mentioned",
        BuildFailed = "build_failed",
        Marked = "marked",
        ApprovalRequired = "approval_required",
        Unmergeable = "unmergeable",
        DirectlyAddressed = "directly_addressed",
        MergeTrainRemoved = "merge_train_removed",
        ReviewRequested = "review_requested",
        MemberAccessRequested = "member_access_requested",
        ReviewSubmitted = "review_submitted",
    }
}

kernel::text_enum! {
    pub enum TodoState { Pending = "pending", Done = "done" }
}
