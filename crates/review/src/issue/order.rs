//! The order that people give the issues of a project.

use db::{Tx, each_backend, error, schema::issues};
use diesel::{prelude::*, sql_query, sql_types::BigInt};
use kernel::{
    Result,
    ids::{IssueId, ProjectId},
};

use super::{Issue, IssueStore, store};

/// Between which issues of its project one is put: after the first, before the second.
#[derive(Clone, Copy, Debug)]
pub struct Neighbors {
    pub first: Option<IssueId>,
    pub second: Option<IssueId>,
}

/// Puts an issue elsewhere in the order; `None` where what was named is not there to put it beside.
pub fn place(tx: &mut Tx<'_>, issue: &Issue, between: Neighbors) -> Result<Option<Issue>> {
    let mut gap = gap(tx, issue, between)?;
    if gap.is_some_and(|(from, to)| to - from < 2) {
        spread(tx, issue.project_id)?;
        gap = self::gap(tx, issue, between)?;
    }
    // Still no room: the second stands before the first.
    let Some((from, to)) = gap.filter(|(from, to)| to - from >= 2) else { return Ok(None) };
    let row = (issues::relative_position.eq(from + (to - from) / 2), issues::updated_at.eq(tx.now));
    let row = diesel::update(issues::table.find(issue.id)).set(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    tx.find_issue_by_id(issue.id)
}

/// The positions that the new one lies between.
fn gap(tx: &mut Tx<'_>, issue: &Issue, between: Neighbors) -> Result<Option<(i64, i64)>> {
    let first = position(tx, issue, between.first)?;
    let second = position(tx, issue, between.second)?;
    if (between.first.is_some() && first.is_none())
        || (between.second.is_some() && second.is_none())
    {
        return Ok(None);
    }
    Ok(match (first, second) {
        (Some(first), Some(second)) => Some((first, second)),
        (Some(first), None) => {
            let next = neighbour(tx, issue, Side::After(first))?;
            Some((first, next.unwrap_or(first + 2 * store::APART)))
        }
        (None, Some(second)) => {
            let before = neighbour(tx, issue, Side::Before(second))?;
            Some((before.unwrap_or(second - 2 * store::APART), second))
        }
        (None, None) => None,
    })
}

fn position(tx: &mut Tx<'_>, issue: &Issue, id: Option<IssueId>) -> Result<Option<i64>> {
    let Some(id) = id.filter(|id| *id != issue.id) else { return Ok(None) };
    let found = issues::table
        .find(id)
        .filter(issues::project_id.eq(issue.project_id))
        .select(issues::relative_position);
    each_backend!(tx, |conn| found.first(conn).optional().map_err(error("Issue")))
}

#[derive(Clone, Copy)]
enum Side {
    Before(i64),
    After(i64),
}

/// The position of the next issue on one side, the one that moves aside.
fn neighbour(tx: &mut Tx<'_>, issue: &Issue, side: Side) -> Result<Option<i64>> {
    let others =
        issues::table.filter(issues::project_id.eq(issue.project_id).and(issues::id.ne(issue.id)));
    match side {
        Side::Before(position) => {
            let found = others
                .filter(issues::relative_position.lt(position))
                .order(issues::relative_position.desc())
                .select(issues::relative_position);
            each_backend!(tx, |conn| found.first(conn).optional().map_err(error("Issue")))
        }
        Side::After(position) => {
            let found = others
                .filter(issues::relative_position.gt(position))
                .order(issues::relative_position.asc())
                .select(issues::relative_position);
            each_backend!(tx, |conn| found.first(conn).optional().map_err(error("Issue")))
        }
    }
}

/// Makes room again between all issues of a project.
fn spread(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let sql = "UPDATE issues SET relative_position = spread.place * $1 FROM ( \
                   SELECT i.id, ROW_NUMBER() OVER (ORDER BY i.relative_position, i.id DESC) AS place \
                   FROM issues i WHERE i.project_id = $2 \
               ) AS spread WHERE issues.id = spread.id";
    each_backend!(tx, |conn| sql_query(sql)
        .bind::<BigInt, _>(store::APART)
        .bind::<BigInt, _>(project.0)
        .execute(conn)
        .map_err(error("Issue")))?;
    Ok(())
}
