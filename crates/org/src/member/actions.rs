//! Giving and taking membership.

use db::{Tx, each_backend, error, schema::members};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::access;

/// What somebody is a member of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Project(ProjectId),
    Group(NamespaceId),
}

/// A membership as it is first written down.
#[derive(Clone, Copy, Debug)]
pub struct NewMember {
    pub source: Source,
    pub user_id: UserId,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    pub created_by: Option<UserId>,
}

/// Adds a member; effective access follows in the same transaction.
pub fn insert(tx: &mut Tx<'_>, new: &NewMember) -> Result<()> {
    let (project, group) = match new.source {
        Source::Project(id) => (Some(id), None),
        Source::Group(id) => (None, Some(id)),
    };
    let row = (
        members::project_id.eq(project),
        members::namespace_id.eq(group),
        members::user_id.eq(new.user_id),
        members::access_level.eq(new.access_level),
        members::expires_at.eq(new.expires_at),
        members::created_by.eq(new.created_by),
        members::created_at.eq(tx.now),
        members::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(members::table).values(row);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Member")))?;
    match new.source {
        Source::Project(id) => access::refresh_project(tx, id),
        Source::Group(id) => access::refresh_group(tx, id),
    }
}
