//! A milestone with the number of its issues.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, ids::MilestoneId};
use review::milestone::{Milestone, counts::IssueCounts};
use serde::Serialize;
use utoipa::ToSchema;

use super::milestone::MilestoneEntity;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MilestoneWithStatistics {
    #[serde(flatten)]
    pub milestone: MilestoneEntity,
    pub issue_stats: MilestoneIssueStatistics,
}

/// Numbers of issues that the caller may read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MilestoneIssueStatistics {
    pub total: i64,
    pub closed: i64,
}

impl MilestoneWithStatistics {
    /// Paths are looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        milestones: Vec<Milestone>,
        counts: &HashMap<MilestoneId, IssueCounts>,
    ) -> Result<Vec<Self>> {
        let all = MilestoneEntity::all(tx, urls, milestones)?;
        let with_counts = |milestone: MilestoneEntity| {
            let counts = counts.get(&MilestoneId(milestone.id)).copied().unwrap_or_default();
            let issue_stats =
                MilestoneIssueStatistics { total: counts.total, closed: counts.closed };
            Self { milestone, issue_stats }
        };
        Ok(all.into_iter().map(with_counts).collect())
    }
}
