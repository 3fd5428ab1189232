//! What a push means for the project it went to.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

/// Notes that something was pushed; the first branch becomes the default one.
pub fn note(tx: &mut Tx<'_>, project: ProjectId, becomes_default: Option<&str>) -> Result<()> {
    let now = tx.now;
    let row = projects::table.find(project);
    each_backend!(tx, |conn| diesel::update(row)
        .set((projects::last_activity_at.eq(now), projects::updated_at.eq(now)))
        .execute(conn)
        .map_err(error("Project")))?;
    if let Some(branch) = becomes_default {
        let row = projects::table.find(project).filter(projects::default_branch.is_null());
        each_backend!(tx, |conn| diesel::update(row)
            .set(projects::default_branch.eq(branch))
            .execute(conn)
            .map_err(error("Project")))?;
    }
    Ok(())
}
