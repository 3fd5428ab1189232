//! The milestones that releases complete, by their ids.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{release_milestones, releases},
};
use diesel::{prelude::*, sql_query};
use kernel::{
    Result,
    ids::{MilestoneId, ProjectId, ReleaseId},
};

use super::{Release, store::releases_by_id};

const NOUN: &str = "Milestone";

/// Swaps that one statement names.
const AT_ONCE: usize = 500;

/// A milestone that takes the place of another in the releases of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MilestoneSwap {
    pub project: ProjectId,
    pub old: MilestoneId,
    pub new: MilestoneId,
}

pub trait ReleaseMilestoneStore {
    fn milestones_of_releases(
        &mut self,
        releases: &[ReleaseId],
    ) -> Result<HashMap<ReleaseId, Vec<MilestoneId>>>;
    /// The milestones of all releases of a project, each once.
    fn milestones_of_project_releases(&mut self, project: ProjectId) -> Result<Vec<MilestoneId>>;
    /// The projects whose releases complete some milestones, each once for each milestone.
    fn projects_releasing(
        &mut self,
        milestones: &[MilestoneId],
    ) -> Result<Vec<(ProjectId, MilestoneId)>>;
    /// Puts milestones in the place of others.
    fn swap_release_milestones(&mut self, swaps: &[MilestoneSwap]) -> Result<()>;
    /// The releases of whatever projects that complete some milestones, the newest first.
    fn releases_of_milestones(
        &mut self,
        milestones: &[MilestoneId],
    ) -> Result<HashMap<MilestoneId, Vec<Release>>>;
    /// Says which milestones a release completes, and no others.
    fn set_release_milestones(
        &mut self,
        release: ReleaseId,
        milestones: &[MilestoneId],
    ) -> Result<()>;
}

impl ReleaseMilestoneStore for Tx<'_> {
    fn milestones_of_releases(
        &mut self,
        releases: &[ReleaseId],
    ) -> Result<HashMap<ReleaseId, Vec<MilestoneId>>> {
        let mut found: HashMap<ReleaseId, Vec<MilestoneId>> = HashMap::new();
        if releases.is_empty() {
            return Ok(found);
        }
        let rows = release_milestones::table
            .filter(release_milestones::release_id.one_of(releases))
            .order((release_milestones::release_id, release_milestones::milestone_id));
        let rows: Vec<(ReleaseId, MilestoneId)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))?;
        for (release, milestone) in rows {
            found.entry(release).or_default().push(milestone);
        }
        Ok(found)
    }

    fn milestones_of_project_releases(&mut self, project: ProjectId) -> Result<Vec<MilestoneId>> {
        let rows = release_milestones::table
            .inner_join(releases::table)
            .filter(releases::project_id.eq(project))
            .select(release_milestones::milestone_id)
            .distinct();
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn projects_releasing(
        &mut self,
        milestones: &[MilestoneId],
    ) -> Result<Vec<(ProjectId, MilestoneId)>> {
        let rows = release_milestones::table
            .inner_join(releases::table)
            .filter(release_milestones::milestone_id.one_of(milestones))
            .select((releases::project_id, release_milestones::milestone_id))
            .distinct();
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn swap_release_milestones(&mut self, swaps: &[MilestoneSwap]) -> Result<()> {
        for some in swaps.chunks(AT_ONCE) {
            let row = |one: &MilestoneSwap| format!("({}, {}, {})", one.project, one.old, one.new);
            let rows: Vec<String> = some.iter().map(row).collect();
            let concerned = format!(
                "(VALUES {}) AS s JOIN release_milestones m ON m.milestone_id = s.column2 \
                 JOIN releases r ON r.id = m.release_id WHERE r.project_id = s.column1",
                rows.join(", ")
            );
            let insert = format!(
                "INSERT INTO release_milestones (release_id, milestone_id) \
                 SELECT DISTINCT m.release_id, s.column3 FROM {concerned} ON CONFLICT DO NOTHING"
            );
            let remove = format!(
                "DELETE FROM release_milestones WHERE (release_id, milestone_id) IN \
                 (SELECT m.release_id, m.milestone_id FROM {concerned})"
            );
            for text in [insert, remove] {
                each_backend!(self, |conn| sql_query(&text).execute(conn).map_err(error(NOUN)))?;
            }
        }
        Ok(())
    }

    fn releases_of_milestones(
        &mut self,
        milestones: &[MilestoneId],
    ) -> Result<HashMap<MilestoneId, Vec<Release>>> {
        let mut found: HashMap<MilestoneId, Vec<Release>> = HashMap::new();
        if milestones.is_empty() {
            return Ok(found);
        }
        let pairs =
            release_milestones::table.filter(release_milestones::milestone_id.one_of(milestones));
        let pairs: Vec<(ReleaseId, MilestoneId)> =
            each_backend!(self, |conn| pairs.load(conn).map_err(error(NOUN)))?;
        let ids: HashSet<ReleaseId> = pairs.iter().map(|(release, _)| *release).collect();
        let ids: Vec<ReleaseId> = ids.into_iter().collect();
        let rows: Vec<Release> = releases_by_id(self, &ids)?;
        for row in rows {
            for (_, milestone) in pairs.iter().filter(|(release, _)| *release == row.id) {
                found.entry(*milestone).or_default().push(row.clone());
            }
        }
        Ok(found)
    }

    fn set_release_milestones(
        &mut self,
        release: ReleaseId,
        milestones: &[MilestoneId],
    ) -> Result<()> {
        let old = release_milestones::table.filter(release_milestones::release_id.eq(release));
        let rows: Vec<_> = milestones
            .iter()
            .map(|milestone| {
                (
                    release_milestones::release_id.eq(release),
                    release_milestones::milestone_id.eq(*milestone),
                )
            })
            .collect();
        each_backend!(self, |conn| {
            diesel::delete(old).execute(conn).map_err(error(NOUN))?;
            if !rows.is_empty() {
                diesel::insert_into(release_milestones::table)
                    .values(rows)
                    .on_conflict_do_nothing()
                    .execute(conn)
                    .map_err(error(NOUN))?;
            }
            Ok(())
        })
    }
}
