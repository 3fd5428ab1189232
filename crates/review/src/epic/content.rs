//! Which epics have child epics and issues that somebody may read.

use std::collections::HashSet;

use db::{
    Fragment, Tx,
    listing::{ids, list_of},
};
use kernel::{Actor, Result};

use super::condition;
use crate::{
    item::{ItemKind, list::confidential_for},
    ports::{GroupHierarchy, Projects, ReadableProjects},
};

/// Ids of epics, by what somebody may read of their content.
#[derive(Debug, Default)]
pub struct ReadableContent {
    pub with_epics: HashSet<i64>,
    pub with_issues: HashSet<i64>,
}

/// Which of these epics have child epics, and which have issues. What the actor may not read counts as absent.
pub fn readable_content(
    tx: &mut Tx<'_>,
    places: &(impl Projects + GroupHierarchy),
    actor: Actor,
    epics: &[i64],
) -> Result<ReadableContent> {
    if epics.is_empty() {
        return Ok(ReadableContent::default());
    }
    let child = condition(tx, places, actor, "c")?;
    let issue = issue_condition(tx, places, actor)?;
    let with_epics = format!("epics c WHERE c.parent_id = e.id AND {child}");
    let with_issues = format!("issues i WHERE i.epic_id = e.id AND {issue}");
    let mut among = |content: &str| -> Result<HashSet<i64>> {
        let list = list_of(epics);
        let sql = format!(
            "SELECT e.id AS id FROM epics e WHERE e.id IN ({list}) AND EXISTS (SELECT 1 FROM {content})"
        );
        Ok(ids(tx, &sql, &[])?.into_iter().collect())
    };
    Ok(ReadableContent { with_epics: among(&with_epics)?, with_issues: among(&with_issues)? })
}

/// Whether the actor may read the issue of a row `i`.
fn issue_condition(tx: &mut Tx<'_>, places: &impl Projects, actor: Actor) -> Result<Fragment> {
    let projects = places.readable(tx, actor, ItemKind::Issue, None, true)?;
    let inside = match projects {
        ReadableProjects { few: Some(few), .. } if few.is_empty() => "FALSE".to_owned(),
        ReadableProjects { few: Some(few), .. } => format!("i.project_id IN ({})", list_of(&few)),
        ReadableProjects { all, few: None } => all.contains_for_each("i.project_id").to_string(),
    };
    Ok(Fragment::new(match actor.admin {
        true => inside,
        false => format!("{inside} AND {}", confidential_for(actor, Some(tx.now))),
    }))
}
