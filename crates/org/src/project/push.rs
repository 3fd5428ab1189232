//! Effects of a push on its project.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    Result,
    head::{Growth, HeadMove},
    ids::ProjectId,
};

use super::{size_limit, statistics::StatisticsStore};

/// Whether the project's record tells all that a push changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushRecord {
    Completely,
    /// Somebody has to look at the default branch.
    InPart,
}

/// Notes that something was pushed; the first branch becomes the default one.
pub fn note(
    tx: &mut Tx<'_>,
    project: ProjectId,
    becomes_default: Option<&str>,
    head: Option<&HeadMove>,
    growth: Growth,
) -> Result<PushRecord> {
    if let Some(branch) = becomes_default {
        let row = projects::table.find(project).filter(projects::default_branch.is_null());
        each_backend!(tx, |conn| diesel::update(row)
            .set(projects::default_branch.eq(branch))
            .execute(conn)
            .map_err(error("Project")))?;
    }
    let now = tx.now;
    let active = (projects::last_activity_at.eq(now), projects::updated_at.eq(now));
    if let Some((head, shows)) = head.and_then(|head| Some((head, head.shows.as_ref()?))) {
        let marks =
            (projects::readme_path.eq(&shows.readme), projects::license_path.eq(&shows.license));
        let row = projects::table.find(project).filter(projects::default_branch.eq(&head.branch));
        let still_default = each_backend!(tx, |conn| diesel::update(row)
            .set((active, marks))
            .execute(conn)
            .map_err(error("Project")))?;
        if still_default == 1 {
            size_limit::grow(tx, project, growth)?;
            let known = tx.note_head(project, head.from.as_deref(), head.to.as_deref(), shows)?;
            return Ok(if known { PushRecord::Completely } else { PushRecord::InPart });
        }
    }
    record_activity(tx, project)?;
    size_limit::grow(tx, project, growth)?;
    Ok(if head.is_some() { PushRecord::InPart } else { PushRecord::Completely })
}

/// Notes that something happened in a project.
pub fn record_activity(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let now = tx.now;
    let active = (projects::last_activity_at.eq(now), projects::updated_at.eq(now));
    let row = projects::table.find(project);
    each_backend!(tx, |conn| diesel::update(row)
        .set(active)
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(())
}
