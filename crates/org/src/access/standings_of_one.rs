//! The standings of one user in several projects, loaded at once.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{namespaces, project_access, projects},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts, Visibility,
    access::{FeatureAccess, Features},
    ids::{ProjectId, UserId},
};

use super::{level_in_project, level_now};
use crate::namespace::networks;

/// Databases take only so many values in one question.
const AT_ONCE: usize = 5_000;

type Access = (Option<AccessLevel>, Option<Ts>);
type StandingRow = (
    ProjectId,
    Visibility,
    bool,
    (
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
    ),
);

/// How one person stands in these projects. Those that are gone, or hidden from them, are left out.
pub fn in_projects(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, Standing>> {
    let mut all = HashMap::new();
    let closed = networks::closed_to(tx, actor)?;
    for ids in ids.chunks(AT_ONCE) {
        let out_of_reach = out_of_reach(tx, &closed, ids)?;
        // Nobody has the id 0.
        let user = actor.id.unwrap_or(UserId(0));
        let access =
            project_access::user_id.eq(user).and(project_access::project_id.eq(projects::id));
        let query = projects::table
            .left_join(project_access::table.on(access))
            .filter(projects::id.one_of(ids).and(projects::deleted_at.is_null()))
            .select((
                (
                    projects::id,
                    projects::visibility,
                    projects::archived,
                    (
                        projects::repository_access,
                        projects::issues_access,
                        projects::merge_requests_access,
                        projects::forking_access,
                        projects::builds_access,
                        projects::wiki_access,
                        projects::snippets_access,
                    ),
                ),
                (project_access::access_level.nullable(), project_access::until.nullable()),
            ));
        let rows: Vec<(StandingRow, Access)> =
            each_backend!(tx, |conn| query.load(conn).map_err(error("Project")))?;
        for (project, access) in rows {
            let standing = standing(tx, actor, &project, access)?;
            if standing.visible && !out_of_reach.contains(&project.0) {
                all.insert(project.0, standing);
            }
        }
    }
    Ok(all)
}

/// Those of these projects that lie in groups which are closed to where the question comes from.
fn out_of_reach(
    tx: &mut Tx<'_>,
    closed: &[String],
    ids: &[ProjectId],
) -> Result<HashSet<ProjectId>> {
    if closed.is_empty() {
        return Ok(HashSet::new());
    }
    let homes = namespaces::table.filter(namespaces::ip_ranges.one_of(closed));
    let inside = projects::table
        .filter(projects::id.one_of(ids))
        .filter(projects::namespace_id.eq_any(homes.select(namespaces::id)))
        .select(projects::id);
    let inside: Vec<ProjectId> =
        each_backend!(tx, |conn| inside.load(conn).map_err(error("Project")))?;
    Ok(inside.into_iter().collect())
}

fn standing(
    tx: &mut Tx<'_>,
    actor: Actor,
    shown: &StandingRow,
    access: Access,
) -> Result<Standing> {
    let (id, visibility, archived, features) = *shown;
    let (level, until) = access;
    let level = level_now(tx, level, until, |tx| level_in_project(tx, actor, id))?;
    let (repository, issues, merge_requests, forking, builds, wiki, snippets) = features;
    let features = Features { repository, issues, merge_requests, forking, builds, wiki, snippets };
    Ok(Standing { archived, features, ..Standing::in_scope(actor, level, visibility) })
}
