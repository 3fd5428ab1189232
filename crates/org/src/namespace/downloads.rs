//! Top-level groups that let one person download only so many projects in a while. Who takes more is told of to those
//! who look after the group, and locked out of it where the group wants that.

use db::{Tx, each_backend, error, schema::project_downloads as downloads};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{ProjectId, UserId},
};
use time::Duration;

use super::{GroupSettings, Kind, Namespace, store::NamespaceStore};
use crate::{
    access::{self, bans},
    member::{Source, letters, store::MemberStore},
    user::{User, names::ids_of, store::UserStore},
};

/// The consequence of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    /// It was one too many, and nothing is left of the roles that somebody had.
    LockedOut,
}

/// Whom a letter about too many downloads goes to, at most.
const MOST_READERS: i64 = 10;

/// The group that counts what is downloaded of a project with this path.
fn counting(tx: &mut Tx<'_>, full_path: &str) -> Result<Option<(Namespace, GroupSettings)>> {
    let top = full_path.split('/').next().unwrap_or_default();
    let group = tx.find_namespace_at(top)?.filter(|top| top.kind == Kind::Group);
    let found = group.map(|group| {
        let settings = group.settings();
        (group, settings)
    });
    Ok(found.filter(|(_, settings)| {
        settings.unique_project_download_limit > 0
            && settings.unique_project_download_limit_interval_in_seconds > 0
    }))
}

/// Whether downloads of a project with this path are counted.
pub fn are_counted(tx: &mut Tx<'_>, full_path: &str) -> Result<bool> {
    Ok(counting(tx, full_path)?.is_some())
}

/// Notes that somebody downloads a project. Administrators, owners of the group, and those whom it names are free to.
pub fn note(tx: &mut Tx<'_>, actor: Actor, project: ProjectId, full_path: &str) -> Result<Verdict> {
    let Some(user) = actor.id.filter(|_| !actor.admin) else { return Ok(Verdict::Fine) };
    let Some((group, settings)) = counting(tx, full_path)? else { return Ok(Verdict::Fine) };
    let user = tx.user(user)?;
    let is_named = |name: &String| name.eq_ignore_ascii_case(&user.username);
    if settings.unique_project_download_limit_allowlist.iter().any(is_named)
        || access::level_in_namespace(tx, actor, group.id)? >= AccessLevel::Owner
    {
        return Ok(Verdict::Fine);
    }
    let seconds = settings.unique_project_download_limit_interval_in_seconds;
    let since = tx.now.plus(-Duration::seconds(seconds));
    let theirs = || {
        downloads::table
            .filter(downloads::namespace_id.eq(group.id))
            .filter(downloads::user_id.eq(user.id))
    };
    let old = diesel::delete(theirs().filter(downloads::downloaded_at.le(since)));
    each_backend!(tx, |conn| old.execute(conn).map_err(error("Download")))?;
    let taken = theirs().select(downloads::project_id);
    let taken: Vec<ProjectId> =
        each_backend!(tx, |conn| taken.load(conn).map_err(error("Download")))?;
    let again = taken.contains(&project);
    let others = taken.len() - usize::from(again);
    record_download(tx, &group, user.id, project)?;
    let most = usize::try_from(settings.unique_project_download_limit).unwrap_or(usize::MAX);
    if others < most {
        return Ok(Verdict::Fine);
    }
    if settings.auto_ban_user_on_excessive_projects_download {
        if bans::lock_out(tx, group.id, user.id)? {
            notify_managers(tx, &group, &settings, &user, true)?;
        }
        return Ok(Verdict::LockedOut);
    }
    if others == most && !again {
        notify_managers(tx, &group, &settings, &user, false)?;
    }
    Ok(Verdict::Fine)
}

fn record_download(
    tx: &mut Tx<'_>,
    group: &Namespace,
    user: UserId,
    project: ProjectId,
) -> Result<()> {
    let row = (
        downloads::namespace_id.eq(group.id),
        downloads::user_id.eq(user),
        downloads::project_id.eq(project),
        downloads::downloaded_at.eq(tx.now),
    );
    let insert = diesel::insert_into(downloads::table)
        .values(row)
        .on_conflict((downloads::namespace_id, downloads::user_id, downloads::project_id))
        .do_update()
        .set(downloads::downloaded_at.eq(tx.now));
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Download")))?;
    Ok(())
}

/// Tells those whom the group names, or else who manages it.
fn notify_managers(
    tx: &mut Tx<'_>,
    group: &Namespace,
    settings: &GroupSettings,
    user: &User,
    locked_out: bool,
) -> Result<()> {
    let named = &settings.unique_project_download_limit_alertlist;
    let readers: Vec<User> = match named.is_empty() {
        true => tx.managers(Source::Group(group.id), MOST_READERS)?,
        false => tx.users_by_id(named)?.into_values().collect(),
    };
    letters::downloaded_too_much(tx, group.id, user, &readers, locked_out)
}

/// Whoever is free to download from now on is let in again.
pub(super) fn pardon(
    tx: &mut Tx<'_>,
    group: &Namespace,
    (old, new): (&GroupSettings, &GroupSettings),
) -> Result<()> {
    let known = &old.unique_project_download_limit_allowlist;
    let names = new.unique_project_download_limit_allowlist.iter();
    let added: Vec<String> = names.filter(|name| !known.contains(name)).cloned().collect();
    if added.is_empty() {
        return Ok(());
    }
    for user in ids_of(tx, &added)?.into_values() {
        bans::let_in(tx, group.id, user)?;
    }
    Ok(())
}
