//! Somebody who shows a token at a project or group: the token, the person, and how they stand there, by one statement.
//! Nearly every request begins so, and on PostgreSQL each statement is a way to another process and back.

use db::{
    Tx, columns, each_backend, error,
    schema::{access_tokens, namespace_access, namespaces, project_access, projects, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId},
};

use super::locate::{IdOrPath, in_group};
use crate::{
    namespace::{Kind, Namespace, networks::shut_out_of_group},
    project::store::{ScopeRow, scope_columns},
    token::{AccessToken, Secret},
    user::User,
};

/// A token with its person, whatever their state, and the place where it was shown, as far as there is one.
#[derive(Debug)]
pub struct Entry<P> {
    pub token: AccessToken,
    pub user: User,
    pub place: Option<P>,
}

/// A project, and the role that the token's person has in it.
#[derive(Debug)]
pub struct ProjectEntry {
    row: ScopeRow,
    now: Ts,
}

impl ProjectEntry {
    /// How the token's person stands there. Nothing where that is not the whole answer: it is hidden from them, or their
    /// role has ended and something may be left of it.
    ///
    /// # Errors
    /// When the installation's settings cannot be understood.
    pub fn stand(self, actor: Actor) -> Result<Option<(Project, Standing)>> {
        let Some((facts, level)) = self.row.located_now(actor, self.now)? else { return Ok(None) };
        let standing = Standing::in_project(actor, level, &facts);
        Ok(standing.visible.then(|| (Project(facts.into()), standing)))
    }
}

/// A group, and the role that the token's person has in it.
#[derive(Debug)]
pub struct GroupEntry {
    group: Namespace,
    role: Option<(AccessLevel, Ts)>,
    now: Ts,
}

impl GroupEntry {
    /// As [`ProjectEntry::stand`].
    pub fn stand(self, actor: Actor) -> Option<(Group, Standing)> {
        let level = match self.role {
            None => AccessLevel::NoAccess,
            Some((level, until)) if self.now < until => level,
            Some(_) => return None,
        };
        let seen = in_group(actor, level, &self.group);
        let open = seen.visible && !shut_out_of_group(actor, seen.level, &self.group);
        open.then(|| (Group(self.group.facts().into()), seen))
    }
}

type ProjectRow = (AccessToken, User, Option<ScopeRow>);
type GroupRow = (AccessToken, User, Option<Namespace>, Option<(AccessLevel, Ts)>);

/// Whoever shows a token at a project.
///
/// # Errors
/// When the database cannot be read.
pub fn to_project(
    tx: &mut Tx<'_>,
    secret: &Secret,
    id: &IdOrPath,
) -> Result<Option<Entry<ProjectEntry>>> {
    macro_rules! row {
        ($condition:expr) => {{
            let chosen = $condition.and(projects::deleted_at.is_null());
            let role = project_access::user_id
                .eq(users::id)
                .and(project_access::project_id.eq(projects::id));
            let query = access_tokens::table
                .inner_join(users::table)
                .left_join(projects::table.on(chosen))
                .left_join(namespaces::table.on(namespaces::id.eq(projects::namespace_id)))
                .left_join(project_access::table.on(role))
                .filter(access_tokens::digest.eq(secret.digest()));
            each_backend!(tx, |conn| query
                .select((
                    columns(AccessToken::as_select()),
                    columns(User::as_select()),
                    columns(scope_columns!().nullable()),
                ))
                .get_result(conn)
                .optional()
                .map_err(error("Token")))?
        }};
    }
    let found: Option<ProjectRow> = match id {
        IdOrPath::Id(id) => row!(projects::id.eq(ProjectId(*id))),
        IdOrPath::Path(path) => row!(projects::path_key.eq(path.to_lowercase())),
    };
    let now = tx.now;
    Ok(found.map(|(token, user, row)| Entry {
        token,
        user,
        place: row.map(|row| ProjectEntry { row, now }),
    }))
}

/// Whoever shows a token at a group.
///
/// # Errors
/// When the database cannot be read.
pub fn to_group(
    tx: &mut Tx<'_>,
    secret: &Secret,
    id: &IdOrPath,
) -> Result<Option<Entry<GroupEntry>>> {
    macro_rules! row {
        ($condition:expr) => {{
            let chosen = $condition
                .and(namespaces::kind.eq(Kind::Group))
                .and(namespaces::deleted_at.is_null());
            let role = namespace_access::user_id
                .eq(users::id)
                .and(namespace_access::namespace_id.eq(namespaces::id));
            let query = access_tokens::table
                .inner_join(users::table)
                .left_join(namespaces::table.on(chosen))
                .left_join(namespace_access::table.on(role))
                .filter(access_tokens::digest.eq(secret.digest()));
            each_backend!(tx, |conn| query
                .select((
                    columns(AccessToken::as_select()),
                    columns(User::as_select()),
                    columns(Option::<Namespace>::as_select()),
                    (namespace_access::access_level, namespace_access::until).nullable(),
                ))
                .get_result(conn)
                .optional()
                .map_err(error("Token")))?
        }};
    }
    let found: Option<GroupRow> = match id {
        IdOrPath::Id(id) => row!(namespaces::id.eq(NamespaceId(*id))),
        IdOrPath::Path(path) => row!(namespaces::path_key.eq(path.to_lowercase())),
    };
    let now = tx.now;
    Ok(found.map(|(token, user, group, role)| Entry {
        token,
        user,
        place: group.map(|group| GroupEntry { group, role, now }),
    }))
}
