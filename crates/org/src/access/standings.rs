//! The standings of several users in one project or group, loaded at once.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{namespace_access, project_access},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{level_in_namespace, level_in_project};
use crate::{
    namespace::store::NamespaceStore,
    project::store::ProjectStore,
    user::{State, store::UserStore},
};

/// How each of these people stands in a project. Unknown people are left out, and those who may not sign in; in a
/// project that is not there, nobody stands anywhere.
pub fn standings_in_project(
    tx: &mut Tx<'_>,
    project: ProjectId,
    people: &[UserId],
) -> Result<Vec<Standing>> {
    let Some((facts, _)) = tx.find_scope(Actor::ANONYMOUS, project)? else {
        return Ok(Vec::new());
    };
    let rows = project_access::table
        .filter(project_access::project_id.eq(project).and(project_access::user_id.one_of(people)))
        .select((project_access::user_id, project_access::access_level, project_access::until));
    let rows: Vec<(UserId, AccessLevel, Ts)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))?;
    let found = levels(tx, people, rows, |tx, actor| level_in_project(tx, actor, project))?;
    Ok(found.into_iter().map(|(who, level)| Standing::in_project(who, level, &facts)).collect())
}

/// Those who have at least this role in a project, so many at most, by their ids.
pub fn people_in_project(
    tx: &mut Tx<'_>,
    project: ProjectId,
    at_least: AccessLevel,
    most: i64,
) -> Result<Vec<UserId>> {
    let rows = project_access::table
        .filter(project_access::project_id.eq(project))
        .filter(project_access::access_level.ge(at_least))
        .filter(project_access::until.gt(tx.now))
        .order(project_access::user_id)
        .limit(most)
        .select(project_access::user_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))
}

/// As [`standings_in_project`], in a group.
pub fn standings_in_group(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    people: &[UserId],
) -> Result<Vec<Standing>> {
    let Some(facts) = tx.find_namespace(group)? else { return Ok(Vec::new()) };
    let rows = namespace_access::table
        .filter(
            namespace_access::namespace_id.eq(group).and(namespace_access::user_id.one_of(people)),
        )
        .select((
            namespace_access::user_id,
            namespace_access::access_level,
            namespace_access::until,
        ));
    let rows: Vec<(UserId, AccessLevel, Ts)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))?;
    let found = levels(tx, people, rows, |tx, actor| level_in_namespace(tx, actor, group))?;
    let stand = |(who, level)| Standing::in_scope(who, level, facts.visibility);
    Ok(found.into_iter().map(stand).collect())
}

/// Those of these people who may sign in, and the levels that the projection tells, `anew` where one has ended.
fn levels(
    tx: &mut Tx<'_>,
    people: &[UserId],
    told: Vec<(UserId, AccessLevel, Ts)>,
    anew: impl Fn(&mut Tx<'_>, Actor) -> Result<AccessLevel>,
) -> Result<Vec<(Actor, AccessLevel)>> {
    let users = tx.users_by_id(people)?;
    let told: HashMap<UserId, (AccessLevel, Ts)> =
        told.into_iter().map(|(user, level, until)| (user, (level, until))).collect();
    let active = users.values().filter(|user| user.state == State::Active);
    let found = active.map(|user| {
        let level = match told.get(&user.id) {
            None => AccessLevel::NoAccess,
            Some((level, until)) if tx.now < *until => *level,
            Some(_) => anew(tx, user.actor())?,
        };
        Ok((user.actor(), level))
    });
    found.collect()
}
