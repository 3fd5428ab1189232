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
    lending::{LendingStore as _, Offer},
};

/// What authors of open merge requests lend to those who may merge them.
#[derive(Clone, Copy, Debug)]
pub struct Collaboration;

impl ForkPushBranches for Collaboration {
    fn lent(&self, tx: &mut Tx<'_>, who: &Standing, project: ProjectId) -> Result<HashSet<String>> {
        if who.visibility == Visibility::Private {
            return Ok(HashSet::new());
        }
        let offers = tx.offers_from(project)?;
        let authors: HashSet<UserId> = offers.iter().map(|offer| offer.author).collect();
        let authors: Vec<UserId> = authors.into_iter().collect();
        if authors.is_empty() {
            return Ok(HashSet::new());
        }
        let lenders = standings_in_project(tx, project, &authors)?.into_iter();
        let lenders: HashSet<UserId> =
            lenders.filter(lends).filter_map(|author| author.actor.id).collect();
        let mut targets: HashMap<ProjectId, Option<Protection>> = HashMap::new();
        let mut lent = HashSet::new();
        for offer in offers.into_iter().filter(|offer| lenders.contains(&offer.author)) {
            let rules = match targets.get(&offer.target) {
                Some(known) => known,
                None => {
                    let rules = rules_of(tx, who, offer.target)?;
                    targets.entry(offer.target).or_insert(rules)
                }
            };
            if rules.as_ref().is_some_and(|rules| may_merge(rules, &offer)) {
                lent.insert(offer.source_branch);
            }
        }
        Ok(lent)
    }
}

/// Whether an author may give away what belongs to the source: nobody lends what they may not push to themselves.
fn lends(author: &Standing) -> bool {
    author.reads(Feature::Repository, Reporter) && author.writes(Developer)
}

/// The rules of a project where somebody might merge.
fn rules_of(tx: &mut Tx<'_>, who: &Standing, target: ProjectId) -> Result<Option<Protection>> {
    match locate_project(tx, who.actor, &IdOrPath::Id(target.0)) {
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
        Ok((_, who)) if who.archived || who.visibility == Visibility::Private => Ok(None),
        Ok((_, who)) => Protection::load(tx, &who, target).map(Some),
    }
}

fn may_merge(rules: &Protection, offer: &Offer) -> bool {
    let branch = rules.branch(&offer.target_branch);
    branch.may_push() || branch.may_merge()
}

/// Which of these merge requests lend their source branch: those that are to, and whose branch can be lent at all.
pub fn lending(tx: &mut Tx<'_>, rows: &[MergeRequest]) -> Result<HashSet<MergeRequestId>> {
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
    let lent = asked.into_iter().zip(ends).filter(|((row, source), end)| {
        open.contains(&row.project_id) && open.contains(source) && !protected.contains(end)
    });
    Ok(lent.map(|((row, _), _)| row.id).collect())
}
