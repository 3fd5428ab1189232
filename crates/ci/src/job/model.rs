//! A job as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{JobId, PipelineId, ProjectId, UserId},
};

use crate::{Outcome, Status};

kernel::text_enum! {
    /// By whom it is done.
    pub enum JobKind {
        /// Somewhere else: somebody reports how far it is.
        External = "external",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::jobs, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Job {
    pub id: JobId,
    pub project_id: ProjectId,
    pub pipeline_id: PipelineId,
    pub kind: JobKind,
    pub stage: String,
    pub name: String,
    pub sha: String,
    /// A branch or tag.
    pub ref_name: String,
    pub tag: bool,
    pub status: Status,
    /// Whether a newer one of that name took its place.
    pub retried: bool,
    pub allow_failure: bool,
    pub failure_reason: Option<String>,
    pub user_id: Option<UserId>,
    /// Where more is told of it.
    pub target_url: Option<String>,
    pub description: Option<String>,
    pub coverage: Option<f64>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub queued_at: Option<Ts>,
    pub started_at: Option<Ts>,
    pub finished_at: Option<Ts>,
}

impl Job {
    pub fn outcome(&self) -> Outcome {
        Outcome { status: self.status, allow_failure: self.allow_failure }
    }
}
