//! A resource group as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{JobId, ProjectId, ResourceGroupId},
};

kernel::text_enum! {
    /// Which of several jobs that wait is next.
    pub enum ProcessMode {
        /// Whichever is found first.
        Unordered = "unordered",
        OldestFirst = "oldest_first",
        NewestFirst = "newest_first",
        /// As `NewestFirst`, among those alone that wait already.
        NewestReadyFirst = "newest_ready_first",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::resource_groups, check_for_backend(db::AnyBackend))]
pub struct ResourceGroup {
    pub id: ResourceGroupId,
    pub project_id: ProjectId,
    pub key: String,
    pub process_mode: ProcessMode,
    /// The job that may run.
    pub holder_id: Option<JobId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}
