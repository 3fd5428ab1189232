//! The check that merge requests and branches agree: merged means that the target has the commits.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::{
    facts::{self, MergeRequestRow},
    ledger::Ledger,
    verify::{git, repository},
};
use crate::{migrate::Connection, server::Installation};

pub(super) fn check(installation: &Installation, ledger: &Ledger) -> Result<Vec<String>> {
    let proposals =
        facts::merge_requests(&mut Connection::open(&installation.database_address())?)?;
    let mut histories: BTreeMap<(i64, String), BTreeSet<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for one in &proposals {
        let target = (one.project_id, one.target_branch.clone());
        if !histories.contains_key(&target) {
            let name = format!("refs/heads/{}", one.target_branch);
            let listed = git(&repository(installation, one.project_id), &["rev-list", &name])?;
            histories.insert(target.clone(), listed.lines().map(str::to_owned).collect());
        }
        let Some(history) = histories.get(&target) else { continue };
        found.extend(
            disagreement(one, history).map(|told| {
                format!("project {} merge request {}: {told}", one.project_id, one.iid)
            }),
        );
    }
    for (project, iid) in &ledger.merged {
        let row = proposals.iter().find(|one| (one.project_id, one.iid) == (*project, *iid));
        if row.is_none_or(|row| row.state != "merged") {
            found.push(format!("project {project} merge request {iid}: merged was acknowledged"));
        }
    }
    Ok(found)
}

fn disagreement(one: &MergeRequestRow, history: &BTreeSet<String>) -> Option<String> {
    let has = |sha: &Option<String>| sha.as_ref().is_some_and(|sha| history.contains(sha));
    match one.state.as_str() {
        "merged" if !(has(&one.head_sha) && has(&one.merge_commit_sha)) => {
            Some("is merged, and its target does not have it".to_owned())
        }
        "opened" | "closed" if has(&one.head_sha) => {
            Some(format!("is {}, and its target has it", one.state))
        }
        "locked" => Some("was left behind locked".to_owned()),
        _ => None,
    }
}
