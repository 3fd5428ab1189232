//! Cache versions of answers about groups, and notification of changes: see [`db::stamp`].

use db::{Tx, stamp};
use kernel::{Result, ids::UserId};

use super::{
    access_scope::{AccessScope, AffectedUsers},
    lock::lock_access_projection,
};

/// Where people are let in and which groups lie in which, for everybody.
const GROUPS: &str = "groups";

/// What the groups that somebody knows of follow from.
pub(crate) fn of_person(user: UserId) -> [String; 2] {
    [GROUPS.to_owned(), person(user)]
}

/// What the number of projects in a top-level namespace follows from. `path` is that of something in it, in small letters.
pub(crate) fn of_tree(path: &str) -> [String; 1] {
    [top(path)]
}

fn person(user: UserId) -> String {
    format!("user {user}")
}

fn top(path: &str) -> String {
    format!("tree {}", path.split('/').next().unwrap_or_default())
}

/// Something was made in a tree, or left it, or will: it has this path there, in small letters.
pub(crate) fn tree(tx: &mut Tx<'_>, path: &str) -> Result<()> {
    lock_access_projection(tx)?;
    stamp::renew_stamp(tx, &[top(path)])
}

/// Follows a change of roles in what has these paths, of which the first is its own.
pub(super) fn follow(
    tx: &mut Tx<'_>,
    access_scope: AccessScope,
    whom: AffectedUsers,
    paths: &[String],
) -> Result<()> {
    let mut changed = Vec::new();
    match (access_scope, whom) {
        // Who has a role in a project knows of the groups above it.
        (_, AffectedUsers::One(user)) => changed.push(person(user)),
        (_, AffectedUsers::MembersOf(_) | AffectedUsers::PeopleIn(_)) => {
            changed.push(GROUPS.to_owned())
        }
        (AccessScope::Project(_), AffectedUsers::Everybody) => {
            changed.extend(paths.first().map(|path| top(path)))
        }
        (AccessScope::Group(_) | AccessScope::Tree(_), AffectedUsers::Everybody) => {
            changed.push(GROUPS.to_owned());
            changed.extend(paths.first().map(|path| top(path)));
        }
    }
    stamp::renew_stamp(tx, &changed)
}

/// Groups were taken away, or have another place or name.
pub(crate) fn groups(tx: &mut Tx<'_>) -> Result<()> {
    lock_access_projection(tx)?;
    stamp::renew_stamp(tx, &[GROUPS.to_owned()])
}
