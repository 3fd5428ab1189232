//! Several lists of issues at once, such as those of a board.

use std::collections::HashMap;

use db::Tx;
use kernel::Result;

use super::{
    Issue, IssueStore,
    list::{IssueQuery, IssueSet, query_within, scope},
};
use crate::{
    item::list::{HeadPart, ListFigures, ListHead, ListScope, Query, figures_of_all, heads_of_all},
    ports::{GroupHierarchy, Projects},
};

/// How many issues each of these lists has that somebody may read, and the sum of their weights.
pub fn figures(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &[IssueQuery<'_>],
) -> Result<Vec<ListFigures>> {
    let queries = queries(tx, projects, asked)?;
    figures_of_all(tx, &queries, "weight")
}

/// The first or last issues of each of these lists that somebody may read.
pub fn heads(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &[IssueQuery<'_>],
    parts: &[HeadPart],
) -> Result<Vec<Vec<Issue>>> {
    let queries = queries(tx, projects, asked)?;
    let head = |(query, part): (Query, &HeadPart)| ListHead { query, part: *part };
    let heads: Vec<ListHead> = queries.into_iter().zip(parts).map(head).collect();
    let ids = heads_of_all(tx, &heads)?;
    let found = tx.issues_in_order(&ids.concat())?;
    let known: HashMap<i64, Issue> = found.into_iter().map(|issue| (issue.id.0, issue)).collect();
    let rows = |ids: &Vec<i64>| ids.iter().filter_map(|id| known.get(id).cloned()).collect();
    Ok(ids.iter().map(rows).collect())
}

/// What each list is asked. Where they look is found out once for all that look there.
fn queries(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &[IssueQuery<'_>],
) -> Result<Vec<Query>> {
    let mut known: HashMap<(Option<String>, bool), ListScope> = HashMap::new();
    let mut all = Vec::with_capacity(asked.len());
    for one in asked {
        let group = match one.among {
            IssueSet::Project(project, _) => {
                all.push(query_within(tx, projects, one, ListScope::Project(project))?);
                continue;
            }
            IssueSet::Group(path) | IssueSet::OwnOfGroup(path, _) => Some(path.to_owned()),
            IssueSet::Everywhere => None,
        };
        let key = (group, one.archived);
        let place = match known.get(&key) {
            Some(place) => place.clone(),
            None => {
                let place = scope(tx, projects, one)?;
                known.insert(key, place.clone());
                place
            }
        };
        all.push(query_within(tx, projects, one, place)?);
    }
    Ok(all)
}
