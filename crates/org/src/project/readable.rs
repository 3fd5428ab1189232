//! SQL conditions on projects whose issues and merge requests a user may read.

use db::{Fragment, RowSet, Tx};
use kernel::{Actor, Result, ids::NamespaceId};

use crate::{
    listing::{ids, value},
    namespace::{networks, visible_groups},
};

/// The kind of items to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadTarget {
    Issues,
    MergeRequests,
}

/// Among which projects is looked.
#[derive(Clone, Debug)]
pub struct ReadScope {
    /// The full path of a group: its projects, and those of groups inside it.
    pub group: Option<String>,
    pub archived: bool,
}

/// Projects in which somebody may read something.
#[derive(Clone, Debug)]
pub struct ReadableProjects {
    pub all: RowSet,
    /// Their ids, where they are few.
    pub few: Option<Vec<i64>>,
}

/// So many projects are gathered; of more, each is asked for.
const FEW: i64 = 100;

/// Where somebody may read issues or merge requests.
pub fn readable(
    tx: &mut Tx<'_>,
    actor: Actor,
    what: ReadTarget,
    within: &ReadScope,
) -> Result<ReadableProjects> {
    let mut all = vec!["p.deleted_at IS NULL".to_owned()];
    if !within.archived {
        all.push("NOT p.archived".to_owned());
    }
    if let Some(group) = &within.group {
        let key = group.to_lowercase().replace('\'', "''");
        all.push(format!("p.path_key > '{key}/' AND p.path_key < '{key}0'"));
    }
    all.extend(seen_by(tx, actor, what));
    all.extend(networks::closed_to(tx, actor)?.into_iter().map(|ranges| {
        let ranges = ranges.replace('\'', "''");
        format!(
            "p.namespace_id NOT IN (SELECT n.id FROM namespaces n WHERE n.ip_ranges = '{ranges}')"
        )
    }));
    let condition = Fragment::new(all.join(" AND "));
    let few = few(tx, actor, within, &condition)?;
    Ok(ReadableProjects { all: RowSet::new("projects", "p", condition), few })
}

/// The projects right inside a group.
pub fn own_projects(group: NamespaceId) -> RowSet {
    RowSet::with("projects", "p", "namespace_id", group.0)
}

fn seen_by(tx: &Tx<'_>, actor: Actor, what: ReadTarget) -> Vec<String> {
    let features = match what {
        ReadTarget::Issues => &["issues_access"][..],
        // A merge request shows code.
        ReadTarget::MergeRequests => &["merge_requests_access", "repository_access"],
    };
    let mut all: Vec<String> =
        features.iter().map(|feature| format!("p.{feature} <> 'disabled'")).collect();
    if actor.admin {
        return all;
    }
    let open_features: Vec<String> =
        features.iter().map(|feature| format!("p.{feature} <> 'private'")).collect();
    let open = match actor.id.is_some() && !actor.external {
        true => "p.visibility <> 'private'",
        false => "p.visibility = 'public'",
    };
    let open = format!("({open} AND {})", open_features.join(" AND "));
    let Some(user) = actor.id else {
        all.push(open);
        return all;
    };
    let level = match what {
        ReadTarget::Issues => "10",
        ReadTarget::MergeRequests => "CASE WHEN p.visibility = 'private' THEN 20 ELSE 10 END",
    };
    let reached = visible_groups::reached(tx.now, kernel::AccessLevel::Guest);
    all.push(format!(
        "({open} OR EXISTS (SELECT 1 FROM project_access a WHERE a.user_id = {} \
         AND a.project_id = p.id AND {reached} AND a.access_level >= {level}))",
        value(user)
    ));
    all
}

fn few(
    tx: &mut Tx<'_>,
    actor: Actor,
    within: &ReadScope,
    condition: &Fragment,
) -> Result<Option<Vec<i64>>> {
    let most = FEW + 1;
    let is_few = |found: &Vec<i64>| i64::try_from(found.len()).is_ok_and(|found| found <= FEW);
    if within.group.is_some() || actor.admin {
        let sql = format!("SELECT p.id AS id FROM projects p WHERE {condition} LIMIT {most}");
        return Ok(Some(ids(tx, &sql, &[])?).filter(is_few));
    }
    let open = match actor.id.is_some() && !actor.external {
        true => "p.visibility IN ('internal', 'public')",
        false => "p.visibility = 'public'",
    };
    let sql =
        format!("SELECT p.id AS id FROM projects p WHERE {open} AND {condition} LIMIT {most}");
    let mut found = ids(tx, &sql, &[])?;
    if let Some(user) = actor.id.filter(|_| is_few(&found)) {
        let reached = visible_groups::reached(tx.now, kernel::AccessLevel::Guest);
        let sql = format!(
            "SELECT p.id AS id FROM project_access a CROSS JOIN projects p \
             WHERE a.user_id = {} AND {reached} AND p.id = a.project_id AND {condition} LIMIT {most}",
            value(user)
        );
        found.extend(ids(tx, &sql, &[])?);
        found.sort_unstable();
        found.dedup();
    }
    Ok(Some(found).filter(is_few))
}
