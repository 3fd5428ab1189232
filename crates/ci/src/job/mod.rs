//! One thing that is done for a pipeline, here or elsewhere.

pub mod actions;
pub mod approval;
pub(crate) mod dependents;
mod environment;
mod list;
mod model;
pub mod permission;
pub mod progress;
pub mod queue;
pub(crate) mod rules;
mod spec;
mod stage;
mod state;
mod store;
pub mod token;
mod transitions;
pub(crate) mod variable;

pub use environment::EnvironmentJobStore;
pub use list::{JobFilter, JobListStore, RunnerJobFilter};
pub use model::{DEPLOYMENT_REJECTED, Job, JobKind};
pub use progress::End;
pub use queue::{PendingJob, QueueStore};
pub use rules::is_archived;
pub use spec::{JobSpec, SpecStore, SpecText};
pub(crate) use spec::{LONGEST_BODY, LONGEST_TAGS, spec_digest};
pub use stage::{StageJob, StageJobStore};
pub use state::Step;
pub use store::{JobStore, NewJob, StatusFilter, StatusOrder};
pub use token::JobToken;
pub use transitions::{Member, MotionStore};
pub use variable::JobVariableStore;
