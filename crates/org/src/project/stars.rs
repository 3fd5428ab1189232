//! Stars of projects.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error, lower,
    schema::{project_stars, projects, users},
};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts,
    ids::{ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Project, store::ProjectStore};
use crate::{
    policy::{ReadProject, UseProject},
    search::containing,
    user::User,
};

/// Stars a project for the caller.
///
/// # Errors
/// `Unchanged` when it already is.
pub fn star(tx: &mut Tx<'_>, grant: &Grant<UseProject>) -> Result<Project> {
    let row = (
        project_stars::user_id.eq(grant.user()?),
        project_stars::project_id.eq(grant.project()),
        project_stars::starred_at.eq(tx.now),
    );
    let insert = diesel::insert_into(project_stars::table).values(row).on_conflict_do_nothing();
    let new = each_backend!(tx, |conn| insert.execute(conn).map_err(error("Star")))?;
    counted(tx, grant.project(), new, 1)
}

/// Takes the caller's star away.
///
/// # Errors
/// `Unchanged` when there is none.
pub fn unstar(tx: &mut Tx<'_>, grant: &Grant<UseProject>) -> Result<Project> {
    let row = project_stars::table.find((grant.user()?, grant.project()));
    let gone = each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Star")))?;
    counted(tx, grant.project(), gone, -1)
}

fn counted(tx: &mut Tx<'_>, project: ProjectId, rows: usize, by: i64) -> Result<Project> {
    if rows == 0 {
        return Err(Error::unchanged());
    }
    let update = diesel::update(projects::table.find(project))
        .set(projects::star_count.eq(projects::star_count + by));
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Project")))?;
    tx.project(project)
}

/// The projects that some people starred, by one statement; none where there are more than `most` in all.
///
/// # Errors
/// When the database cannot be read.
pub fn starred_by(
    tx: &mut Tx<'_>,
    users: &[UserId],
    most: usize,
) -> Result<Option<Vec<(UserId, ProjectId)>>> {
    let limit = i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
    let found: Vec<(UserId, ProjectId)> = each_backend!(tx, |conn| project_stars::table
        .filter(project_stars::user_id.one_of(users))
        .order((project_stars::user_id, project_stars::project_id))
        .limit(limit)
        .select((project_stars::user_id, project_stars::project_id))
        .load(conn)
        .map_err(error("Star")))?;
    Ok((found.len() <= most).then_some(found))
}

/// Those who starred a project, newest star last; people who keep their profile to themselves are left out.
pub fn starrers(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadProject>,
    search: Option<&str>,
    page: PageRequest,
) -> Result<Page<(Ts, User)>> {
    let pattern = containing(search.unwrap_or_default());
    let actor = grant.actor();
    let own = actor.id.unwrap_or(kernel::ids::UserId(0));
    // Only administrators see all: for others the second value never occurs.
    let seen = [false, actor.admin];
    let shown = users::private_profile.eq_any(seen).or(users::id.eq(own));
    let matching = lower(users::name)
        .like(pattern.clone())
        .escape('\\')
        .or(lower(users::username).like(pattern).escape('\\'));
    let found = project_stars::table
        .inner_join(users::table)
        .filter(project_stars::project_id.eq(grant.project()))
        .filter(shown)
        .filter(matching);
    let rows: Vec<(Ts, User)> = each_backend!(tx, |conn| found
        .clone()
        .order((project_stars::starred_at, users::id))
        .limit(page.per_page)
        .offset(page.offset())
        .select((project_stars::starred_at, User::as_select()))
        .load(conn)
        .map_err(error("User")))?;
    let count = CountOf(found.select(users::id).limit(COUNT_LIMIT + 1));
    let total: i64 = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    Ok(Page { items: rows, total: Total::Counted(total) })
}
