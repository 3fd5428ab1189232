//! The number of issues of milestones, of those that the caller may read.

use std::collections::HashMap;

use db::{
    Tx,
    listing::{self, list_of},
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{Actor, Result, ids::MilestoneId};

use crate::{
    item::{ItemKind, list::confidential_for},
    ports::Projects,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssueCounts {
    pub closed: i64,
    pub total: i64,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    milestone: i64,
    #[diesel(sql_type = BigInt)]
    closed: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
}

/// The numbers of issues of some milestones; a milestone without issues has no entry.
pub fn issue_counts(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    milestones: &[MilestoneId],
) -> Result<HashMap<MilestoneId, IssueCounts>> {
    let readable = projects.readable(tx, actor, ItemKind::Issue, None, true)?;
    let mut conditions = vec![String::from(readable.all.contains("i.project_id"))];
    if !actor.admin {
        conditions.push(confidential_for(actor, Some(tx.now)));
    }
    let ids: Vec<i64> = milestones.iter().map(|milestone| milestone.0).collect();
    let sql = format!(
        "SELECT i.milestone_id AS milestone, SUM(CASE WHEN i.state = 'closed' THEN 1 ELSE 0 END) AS closed, \
         COUNT(*) AS total FROM issues i WHERE i.milestone_id IN ({}) AND {} GROUP BY i.milestone_id",
        list_of(&ids),
        conditions.join(" AND "),
    );
    let rows: Vec<Row> = listing::rows(tx, &sql, &[])?;
    let counts = rows.into_iter().map(|row| {
        let counts = IssueCounts { closed: row.closed, total: row.total };
        (MilestoneId(row.milestone), counts)
    });
    Ok(counts.collect())
}
