//! The number of items with each label, of those that the caller may read.

use std::collections::HashMap;

use db::{
    Tx,
    listing::{self, list_of},
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Ability as _, AccessLevel, Actor, Result, Standing,
    ids::{LabelId, ProjectId},
};

use crate::{
    item::{ItemKind, list::confidential_for},
    policy::{ReadIssues, ReadMergeRequests},
    ports::Projects,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    pub open_issues: i64,
    pub closed_issues: i64,
    pub open_merge_requests: i64,
}

/// The project or group in which labels are counted.
#[derive(Clone, Debug)]
pub enum CountScope {
    Project(ProjectId, Box<Standing>),
    /// In a group and those inside it, by its full path.
    Group(String),
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    label: i64,
    #[diesel(sql_type = BigInt)]
    opened: i64,
    #[diesel(sql_type = BigInt)]
    closed: i64,
}

/// How much carries each of these labels. What carries none is left out.
pub fn count(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    place: &CountScope,
    labels: &[LabelId],
) -> Result<HashMap<LabelId, LabelCounts>> {
    let mut all: HashMap<LabelId, LabelCounts> = HashMap::new();
    for row in rows(tx, projects, actor, place, labels, ItemKind::Issue)? {
        let counts = all.entry(LabelId(row.label)).or_default();
        (counts.open_issues, counts.closed_issues) = (row.opened, row.closed);
    }
    for row in rows(tx, projects, actor, place, labels, ItemKind::MergeRequest)? {
        all.entry(LabelId(row.label)).or_default().open_merge_requests = row.opened;
    }
    Ok(all)
}

fn rows(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    place: &CountScope,
    labels: &[LabelId],
    kind: ItemKind,
) -> Result<Vec<Row>> {
    let mut conditions = Vec::new();
    match place {
        CountScope::Project(project, who) => {
            if !reads(kind, who) {
                return Ok(Vec::new());
            }
            conditions.push(format!("i.project_id = {project}"));
            if kind == ItemKind::Issue && !who.is(AccessLevel::Reporter) {
                conditions.push(confidential_for(actor, None));
            }
        }
        CountScope::Group(path) => {
            let readable = projects.readable(tx, actor, kind, Some(path), true)?;
            conditions.push(readable.all.contains("i.project_id").into());
            if kind == ItemKind::Issue && !actor.admin {
                conditions.push(confidential_for(actor, Some(tx.now)));
            }
        }
    }
    let table = if kind == ItemKind::Issue { "issues" } else { "merge_requests" };
    let ids: Vec<i64> = labels.iter().map(|label| label.0).collect();
    let sql = format!(
        "SELECT x.label_id AS label, SUM(CASE WHEN i.state = 'opened' THEN 1 ELSE 0 END) AS opened, \
         SUM(CASE WHEN i.state = 'closed' THEN 1 ELSE 0 END) AS closed \
         FROM item_labels x JOIN {table} i ON i.id = x.item_id \
         WHERE x.item_kind = '{kind}' AND x.label_id IN ({}) AND {} GROUP BY x.label_id",
        list_of(&ids),
        conditions.join(" AND "),
    );
    listing::rows(tx, &sql, &[])
}

fn reads(kind: ItemKind, who: &Standing) -> bool {
    match kind {
        ItemKind::Issue => ReadIssues::allows(who),
        ItemKind::MergeRequest => ReadMergeRequests::allows(who),
        ItemKind::Epic => false,
    }
}
