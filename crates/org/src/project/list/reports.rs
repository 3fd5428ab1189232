//! Conditions on what the pipelines of projects told. Whoever may not read it does not learn which projects have
//! it, either.

use db::{Conn, Tx};
use kernel::{
    AccessLevel::{self, Developer, Guest, Reporter},
    Actor, Result,
};

use super::{ProjectFilter, conditions::Conditions, filters::reached};
use crate::{listing::value, namespace::visible_groups};

pub(super) fn conditions(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    actor: Actor,
    filter: &ProjectFilter,
) -> Result<()> {
    if let Some(reports) = &filter.with_security_reports {
        all.plain(&reports.to_string());
        match actor.id {
            None => all.plain("1 = 0"),
            Some(_) if actor.admin => {}
            Some(user) => reached(tx, all, user, Developer)?,
        }
    }
    if let Some(coverage) = &filter.with_coverage {
        all.plain(&coverage.to_string());
        all.plain(&shows_pipelines(tx, actor));
    }
    Ok(())
}

/// The projects whose pipelines a caller who sees them may read. Who is no reporter may so only where the project
/// shows its jobs.
fn shows_pipelines(tx: &Tx<'_>, actor: Actor) -> String {
    let used = "p.builds_access <> 'disabled' AND p.repository_access <> 'disabled'";
    if actor.admin {
        return used.to_owned();
    }
    let open = "(p.visibility <> 'private' AND p.builds_access <> 'private' \
                AND p.repository_access <> 'private')";
    let hides = match &tx.conn {
        Conn::Sqlite(_) => "(g.settings ->> 'public_jobs') = 0",
        Conn::Postgres(_) => "(g.settings::jsonb ->> 'public_jobs') = 'false'",
    };
    let shown = format!(
        "NOT EXISTS (SELECT 1 FROM project_settings g WHERE g.project_id = p.id AND {hides})"
    );
    let Some(user) = actor.id else { return format!("{used} AND {open} AND {shown}") };
    let has = |level: AccessLevel| {
        let reached = visible_groups::reached(tx.now, level);
        format!(
            "EXISTS (SELECT 1 FROM project_access a \
             WHERE a.user_id = {} AND a.project_id = p.id AND {reached})",
            value(user)
        )
    };
    format!("{used} AND ({} OR (({open} OR {}) AND {shown}))", has(Reporter), has(Guest))
}
