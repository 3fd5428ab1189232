//! Issue counts by state.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct IssueStatisticsEntity {
    pub statistics: IssueStatistics,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct IssueStatistics {
    pub counts: IssueCounts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct IssueCounts {
    pub all: i64,
    pub closed: i64,
    pub opened: i64,
}

impl IssueStatisticsEntity {
    pub fn of(opened: i64, closed: i64) -> Self {
        let counts = IssueCounts { all: opened + closed, closed, opened };
        Self { statistics: IssueStatistics { counts } }
    }
}
