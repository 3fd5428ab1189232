//! Activity feeds of users, and the resource events of items, one module for each kind.

mod details;
pub mod feed;
pub mod import;
mod resource;
mod store;

pub use details::{PushDetails, RefAction, RefType, WikiPageDetails};
pub use resource::{
    ResourceAction, ResourceEvent, ResourceEventStore, ResourceKind, ResourceState,
    iteration_changed, labels_changed, milestone_changed, state_changed, weight_changed,
};
pub use store::{
    Action, Activity, ActivityStore, COMMIT_NOTE, MILESTONE, NewActivity, WIKI_PAGE, record,
};
pub(crate) use store::{record_milestone, record_note};
