//! Related records of releases: links, milestones and their issue counts.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    Ability as _, Error, Result, Standing, Ts,
    ids::{MilestoneId, ProjectId, ReleaseId},
    page::PageRequest,
};
use repo::release::{
    Release, ReleaseMilestoneStore as _,
    link::{ReleaseLink, ReleaseLinkStore as _},
};
use review::{
    Home,
    milestone::{
        Milestone, MilestoneFilter, MilestoneStore as _,
        counts::{IssueCounts, issue_counts},
    },
    policy::ReadMilestones,
    ports::GroupHierarchy as _,
};

use crate::ports::review::OrgHierarchy;

/// Milestones that one release may complete.
const MOST_MILESTONES: i64 = 1000;

/// Milestones as somebody names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MilestoneNames {
    Titles(Vec<String>),
    Ids(Vec<MilestoneId>),
}

impl Default for MilestoneNames {
    fn default() -> Self {
        Self::Titles(Vec::new())
    }
}

/// Related records of some releases.
#[derive(Clone, Debug, Default)]
pub struct ReleaseParts {
    /// The newest first.
    pub links: HashMap<ReleaseId, Vec<ReleaseLink>>,
    /// By due date, start date and title. Empty for whoever may not read milestones.
    pub milestones: HashMap<ReleaseId, Vec<Milestone>>,
    /// Of issues that the caller may read.
    pub issue_counts: HashMap<MilestoneId, IssueCounts>,
}

/// What belongs to some releases of a project, with a fixed number of queries.
///
/// # Errors
/// When the database cannot be read.
pub fn release_parts(
    tx: &mut Tx<'_>,
    who: &Standing,
    releases: &[Release],
) -> Result<ReleaseParts> {
    let ids: Vec<ReleaseId> = releases.iter().map(|release| release.id).collect();
    let links = tx.links_of_releases(&ids)?;
    if !ReadMilestones::allows(who) {
        return Ok(ReleaseParts { links, ..ReleaseParts::default() });
    }
    let milestones = release_milestones(tx, &ids)?;
    let named: HashSet<MilestoneId> = milestones.values().flatten().map(|one| one.id).collect();
    let named: Vec<MilestoneId> = named.into_iter().collect();
    let issue_counts = match named.is_empty() {
        true => HashMap::new(),
        false => issue_counts(tx, &OrgHierarchy, who.actor, &named)?,
    };
    Ok(ReleaseParts { links, milestones, issue_counts })
}

/// The milestones of some releases, by due date, start date and title.
///
/// # Errors
/// When the database cannot be read.
pub fn release_milestones(
    tx: &mut Tx<'_>,
    releases: &[ReleaseId],
) -> Result<HashMap<ReleaseId, Vec<Milestone>>> {
    let pairs = tx.milestones_of_releases(releases)?;
    let ids: HashSet<MilestoneId> = pairs.values().flatten().copied().collect();
    let ids: Vec<MilestoneId> = ids.into_iter().collect();
    let mut rows = match ids.is_empty() {
        true => Vec::new(),
        false => tx.milestones_by_id(&ids)?,
    };
    let day = |at: Option<Ts>| (at.is_none(), at);
    rows.sort_by(|one, other| {
        let key = |row: &Milestone| (day(row.due_date), day(row.start_date));
        key(one).cmp(&key(other)).then_with(|| one.title.cmp(&other.title))
    });
    let of_release = |ids: Vec<MilestoneId>| {
        let own = rows.iter().filter(|row| ids.contains(&row.id));
        own.cloned().collect()
    };
    Ok(pairs.into_iter().map(|(release, ids)| (release, of_release(ids))).collect())
}

/// The milestones of a project and of the groups above it that somebody names.
///
/// # Errors
/// 400 where there is none of that name.
pub fn milestones_named(
    tx: &mut Tx<'_>,
    project: ProjectId,
    who: &Standing,
    names: &MilestoneNames,
) -> Result<Vec<MilestoneId>> {
    let home = Home::Project(project);
    let mut filter = MilestoneFilter::of(home);
    match names {
        MilestoneNames::Titles(titles) => filter.titles.clone_from(titles),
        MilestoneNames::Ids(ids) => filter.ids.clone_from(ids),
    }
    if filter.titles.is_empty() && filter.ids.is_empty() {
        return Ok(Vec::new());
    }
    filter.groups.extend(OrgHierarchy.above(tx, home)?);
    let page = PageRequest { page: 1, per_page: MOST_MILESTONES };
    let found = match ReadMilestones::allows(who) {
        true => tx.milestones(&filter, page)?.items,
        false => Vec::new(),
    };
    ensure_all(names, &found)?;
    Ok(found.into_iter().map(|row| row.id).collect())
}

fn ensure_all(names: &MilestoneNames, found: &[Milestone]) -> Result<()> {
    let (what, missing): (&str, Vec<String>) = match names {
        MilestoneNames::Titles(titles) => {
            let is_missing = |title: &&String| found.iter().all(|row| row.title != **title);
            ("Milestone(s)", titles.iter().filter(is_missing).cloned().collect())
        }
        MilestoneNames::Ids(ids) => {
            let is_missing = |id: &&MilestoneId| found.iter().all(|row| row.id != **id);
            let missing = ids.iter().filter(is_missing);
            ("Milestone id(s)", missing.map(ToString::to_string).collect())
        }
    };
    match missing.is_empty() {
        true => Ok(()),
        false => {
            let text = format!("{what} not found: {}", missing.join(", "));
            Err(Error::bad_request().whole(text))
        }
    }
}
