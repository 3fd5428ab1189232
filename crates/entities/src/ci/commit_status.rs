//! The status of a commit.

use std::collections::HashMap;

use ci::{Status, job::Job};
use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts, ids::UserId};
use org::user::{UserSummary, store::UserStore as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{deployments::shared_json::SharedJson, org::brief_user::BriefUser};

#[derive(Debug, Serialize, ToSchema)]
pub struct CommitStatusEntity {
    pub id: i64,
    pub sha: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    #[schema(value_type = String)]
    pub status: Status,
    pub name: String,
    pub target_url: Option<String>,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Ts>,
    pub allow_failure: bool,
    pub coverage: Option<f64>,
    pub pipeline_id: i64,
    /// Null when the user has been deleted.
    #[schema(value_type = Option<BriefUser>)]
    pub author: Option<SharedJson>,
}

impl CommitStatusEntity {
    /// People are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, jobs: Vec<Job>) -> Result<Vec<Self>> {
        let mut people: Vec<UserId> = jobs.iter().filter_map(|job| job.user_id).collect();
        people.sort_unstable();
        people.dedup();
        let people = tx.summaries_by_id(&people)?;
        let written = |row: &UserSummary| Ok((row.id, SharedJson::new(&BriefUser::of(urls, row))?));
        let people = people.values().map(written).collect::<Result<_>>()?;
        Ok(jobs.into_iter().map(|job| Self::new(job, &people)).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, job: Job) -> Result<Self> {
        Self::all(tx, urls, vec![job])?.pop().ok_or_else(kernel::Error::missing)
    }

    fn new(job: Job, people: &HashMap<UserId, SharedJson>) -> Self {
        let author = job.user_id.and_then(|id| people.get(&id)).cloned();
        Self {
            id: job.id.0,
            sha: job.sha,
            ref_name: job.ref_name,
            status: job.status,
            name: job.name,
            target_url: job.target_url,
            description: job.description,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            allow_failure: job.allow_failure,
            coverage: job.coverage,
            pipeline_id: job.pipeline_id.0,
            author,
        }
    }
}
