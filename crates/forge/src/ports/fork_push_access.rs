//! Source branches of merge requests from forks: those who may merge them may push there, where their authors allow it.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    AccessLevel::{Developer, Reporter},
    Feature, Result, Standing, Visibility,
    ids::{MergeRequestId, ProjectId, UserId},
};
use org::{
    access::{IdOrPath, locate_project, standings::standings_in_project},
    project::store::ProjectStore as _,
};
use repo::{
    ports::ForkPushBranches,
    protection::{Protection, protected_among},
};
use review::merge_request::{
    MergeRequest,
    fork_push_access::{ForkPushAccessStore as _, OpenForkRequest},
};

/// Push access to the source branches of open merge requests with `allow_collaboration`.
#[derive(Clone, Copy, Debug)]
pub struct Collaboration;

impl ForkPushBranches for Collaboration {
    fn fork_push_branches(
        &self,
        tx: &mut Tx<'_>,
        who: &Standing,
        project: ProjectId,
    ) -> Result<HashSet<String>> {
        if who.visibility == Visibility::Private {
            return Ok(HashSet::new());
        }
        let requests = tx.open_fork_requests(project)?;
        let authors: HashSet<UserId> = requests.iter().map(|request| request.author).collect();
        let authors: Vec<UserId> = authors.into_iter().collect();
        if authors.is_empty() {
            return Ok(HashSet::new());
        }
        let authors_with_access = standings_in_project(tx, project, &authors)?.into_iter();
        let authors_with_access: HashSet<UserId> = authors_with_access
            .filter(allows_collaboration)
            .filter_map(|author| author.actor.id)
            .collect();
        let mut targets: HashMap<ProjectId, Option<Protection>> = HashMap::new();
        let mut branches = HashSet::new();
        for request in
            requests.into_iter().filter(|request| authors_with_access.contains(&request.author))
        {
            let rules = match targets.get(&request.target) {
                Some(known) => known,
                None => {
                    let rules = rules_of(tx, who, request.target)?;
                    targets.entry(request.target).or_insert(rules)
                }
            };
            if rules.as_ref().is_some_and(|rules| may_merge(rules, &request)) {
                branches.insert(request.source_branch);
            }
        }
        Ok(branches)
    }
}

/// Whether an author may push to the source, without which `allow_collaboration` has no effect.
fn allows_collaboration(author: &Standing) -> bool {
    author.reads(Feature::Repository, Reporter) && author.writes(Developer)
}

/// The protection rules of a target project that the caller can see.
fn rules_of(tx: &mut Tx<'_>, who: &Standing, target: ProjectId) -> Result<Option<Protection>> {
    match locate_project(tx, who.actor, &IdOrPath::Id(target.0)) {
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
        Ok((_, who)) if who.archived || who.visibility == Visibility::Private => Ok(None),
        Ok((_, who)) => Protection::load(tx, &who, target).map(Some),
    }
}

fn may_merge(rules: &Protection, request: &OpenForkRequest) -> bool {
    let branch = rules.branch(&request.target_branch);
    branch.may_push() || branch.may_merge()
}

/// Those of these merge requests whose source branch members of the target may push to: `allow_collaboration` is set, no
/// project is private, and the branch is not protected.
pub fn allowing_collaboration(
    tx: &mut Tx<'_>,
    rows: &[MergeRequest],
) -> Result<HashSet<MergeRequestId>> {
    let asked = |row: &&MergeRequest| row.allow_collaboration && row.is_from_fork();
    let asked: Vec<(&MergeRequest, ProjectId)> =
        rows.iter().filter(asked).filter_map(|row| Some((row, row.source_project_id?))).collect();
    if asked.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: HashSet<ProjectId> =
        asked.iter().flat_map(|(row, source)| [row.project_id, *source]).collect();
    let ids: Vec<ProjectId> = ids.into_iter().collect();
    let open: HashSet<ProjectId> = tx
        .projects_by_id(&ids)?
        .into_iter()
        .filter(|project| project.visibility != Visibility::Private)
        .map(|project| project.id)
        .collect();
    let ends: Vec<(ProjectId, String)> =
        asked.iter().map(|(row, source)| (*source, row.source_branch.clone())).collect();
    let protected = protected_among(tx, &ends)?;
    let branches = asked.into_iter().zip(ends).filter(|((row, source), end)| {
        open.contains(&row.project_id) && open.contains(source) && !protected.contains(end)
    });
    Ok(branches.map(|((row, _), _)| row.id).collect())
}
