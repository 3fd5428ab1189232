//! Counts of users, groups and projects.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, projects, ssh_keys, users},
};
use diesel::{dsl::count_star, prelude::*};
use kernel::Result;

use crate::{namespace::Kind, user::State};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub forks: i64,
    pub ssh_keys: i64,
    /// People, without those that the server made for itself.
    pub users: i64,
    pub active_users: i64,
    pub projects: i64,
    pub groups: i64,
}

pub fn count(tx: &mut Tx<'_>) -> Result<Counts> {
    let people = || users::table.filter(users::internal.eq(false)).filter(users::bot.eq(false));
    let active = people().filter(users::state.eq(State::Active)).select(count_star());
    let people = people().select(count_star());
    let alive = || projects::table.filter(projects::deleted_at.is_null());
    let forks = alive().filter(projects::forked_from_id.is_not_null()).select(count_star());
    let alive = alive().select(count_star());
    let groups = namespaces::table
        .filter(namespaces::kind.eq(Kind::Group))
        .filter(namespaces::deleted_at.is_null())
        .select(count_star());
    let keys = ssh_keys::table.select(count_star());
    Ok(Counts {
        forks: each_backend!(tx, |conn| forks.get_result(conn).map_err(error("Project")))?,
        ssh_keys: each_backend!(tx, |conn| keys.get_result(conn).map_err(error("Key")))?,
        users: each_backend!(tx, |conn| people.get_result(conn).map_err(error("User")))?,
        active_users: each_backend!(tx, |conn| active.get_result(conn).map_err(error("User")))?,
        projects: each_backend!(tx, |conn| alive.get_result(conn).map_err(error("Project")))?,
        groups: each_backend!(tx, |conn| groups.get_result(conn).map_err(error("Group")))?,
    })
}
