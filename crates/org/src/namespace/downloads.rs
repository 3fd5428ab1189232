//! Limits on how many projects one person downloads in a while: of top-level groups, and of the installation. Whoever takes more
//! is reported to those who look after it, and locked out of the group or banned where that is wanted.

use db::{Tx, each_backend, error, schema::project_downloads as downloads};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId, UserId},
};
use time::Duration;

use super::{GroupSettings, Kind, Namespace, store::NamespaceStore};
use crate::{
    access::{self, bans},
    mail::{self, Letter},
    member::{Source, letters, store::MemberStore},
    settings::{Settings, store::SettingsStore},
    user::{State, User, life, names::ids_of, store::UserStore},
};

/// The consequence of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    /// It was one too many: nothing is left of what somebody was let in by.
    LockedOut,
}

/// Whom a letter about too many downloads goes to, at most.
const MOST_READERS: u8 = 10;
/// No limit looks further back.
const LONGEST_INTERVAL: Duration = Duration::days(10);

/// So many projects in so long a time.
#[derive(Clone, Copy, Debug)]
struct DownloadLimit {
    most: usize,
    interval: Duration,
}

impl DownloadLimit {
    /// `None` where one of the two is zero, and the limit off.
    fn new(most: i64, seconds: i64) -> Option<Self> {
        let most = usize::try_from(most).ok().filter(|most| *most > 0)?;
        (seconds > 0).then_some(Self { most, interval: Duration::seconds(seconds) })
    }

    fn of_group(settings: &GroupSettings) -> Option<Self> {
        Self::new(
            settings.unique_project_download_limit,
            settings.unique_project_download_limit_interval_in_seconds,
        )
    }

    fn of_instance(settings: &Settings) -> Option<Self> {
        Self::new(
            settings.max_number_of_repository_downloads()?,
            settings.max_number_of_repository_downloads_within_time_period()?,
        )
    }

    /// What the download of a project is after those of `taken`.
    fn judge(self, taken: &[ProjectId], project: ProjectId) -> Excess {
        let again = taken.contains(&project);
        match taken.len() - usize::from(again) {
            others if others < self.most => Excess::Within,
            others if others == self.most && !again => Excess::First,
            _ => Excess::Further,
        }
    }
}

/// Whether a download is one too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Within,
    First,
    Further,
}

/// The namespace at the top of a path.
fn top_of(tx: &mut Tx<'_>, full_path: &str) -> Result<Option<Namespace>> {
    tx.find_namespace_at(full_path.split('/').next().unwrap_or_default())
}

/// The settings of a namespace, where it is a group that counts downloads.
fn counting(top: &Namespace) -> Option<(GroupSettings, DownloadLimit)> {
    let settings = (top.kind == Kind::Group).then(|| top.settings())?;
    let limit = DownloadLimit::of_group(&settings)?;
    Some((settings, limit))
}

/// Whether downloads of a project with this path are counted.
pub fn are_counted(tx: &mut Tx<'_>, settings: &Settings, full_path: &str) -> Result<bool> {
    if DownloadLimit::of_instance(settings).is_some() {
        return Ok(true);
    }
    Ok(top_of(tx, full_path)?.is_some_and(|top| counting(&top).is_some()))
}

fn is_named(names: impl IntoIterator<Item = impl AsRef<str>>, user: &User) -> bool {
    names.into_iter().any(|name| name.as_ref().eq_ignore_ascii_case(&user.username))
}

/// Notes that somebody downloads a project. Administrators, owners of the group, and those whom the settings name are free to.
pub fn note(tx: &mut Tx<'_>, actor: Actor, project: ProjectId, full_path: &str) -> Result<Verdict> {
    let Some(user) = actor.id.filter(|_| !actor.admin) else { return Ok(Verdict::Fine) };
    let Some(top) = top_of(tx, full_path)? else { return Ok(Verdict::Fine) };
    let (user, settings) = (tx.user(user)?, tx.settings()?);
    // The request may have been let in before a ban: it is not to count after it.
    if user.state != State::Active {
        return Ok(Verdict::LockedOut);
    }
    let of_instance = DownloadLimit::of_instance(&settings)
        .filter(|_| !user.admin && !is_named(settings.git_rate_limit_users_allowlist(), &user));
    let of_group = match counting(&top) {
        Some((own, _)) if is_named(&own.unique_project_download_limit_allowlist, &user) => None,
        Some(_) if access::level_in_namespace(tx, actor, top.id)? >= AccessLevel::Owner => None,
        found => found,
    };
    if of_instance.is_none() && of_group.is_none() {
        return Ok(Verdict::Fine);
    }
    forget_old(tx, user.id)?;
    let everywhere = match of_instance {
        Some(limit) => limit.judge(&downloaded(tx, user.id, None, limit)?, project),
        None => Excess::Within,
    };
    let here = match &of_group {
        Some((_, limit)) => limit.judge(&downloaded(tx, user.id, Some(top.id), *limit)?, project),
        None => Excess::Within,
    };
    record_download(tx, &top, user.id, project)?;
    if follow_instance(tx, &settings, &user, everywhere)? == Verdict::LockedOut {
        return Ok(Verdict::LockedOut);
    }
    match of_group {
        Some((own, _)) => follow_group(tx, &top, &own, &user, here),
        None => Ok(Verdict::Fine),
    }
}

/// Forgets everything that somebody downloaded: whoever is let in again begins anew.
pub(crate) fn forget_all(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    let gone = diesel::delete(downloads::table.filter(downloads::user_id.eq(user)));
    each_backend!(tx, |conn| gone.execute(conn).map_err(error("Download")))?;
    Ok(())
}

fn forget_old(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    let since = tx.now.plus(-LONGEST_INTERVAL);
    let old = downloads::table
        .filter(downloads::user_id.eq(user))
        .filter(downloads::downloaded_at.le(since));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Download")))?;
    Ok(())
}

/// Which projects somebody downloaded within the interval of a limit, in one namespace or everywhere.
fn downloaded(
    tx: &mut Tx<'_>,
    user: UserId,
    within: Option<NamespaceId>,
    limit: DownloadLimit,
) -> Result<Vec<ProjectId>> {
    let since = tx.now.plus(-limit.interval);
    each_backend!(tx, |conn| {
        let theirs = downloads::table
            .filter(downloads::user_id.eq(user))
            .filter(downloads::downloaded_at.gt(since))
            .select(downloads::project_id)
            .distinct()
            .into_boxed();
        let theirs = match within {
            Some(namespace) => theirs.filter(downloads::namespace_id.eq(namespace)),
            None => theirs,
        };
        theirs.load(conn).map_err(error("Download"))
    })
}

fn record_download(
    tx: &mut Tx<'_>,
    top: &Namespace,
    user: UserId,
    project: ProjectId,
) -> Result<()> {
    let row = (
        downloads::namespace_id.eq(top.id),
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

/// What the group does about a download.
fn follow_group(
    tx: &mut Tx<'_>,
    group: &Namespace,
    settings: &GroupSettings,
    user: &User,
    excess: Excess,
) -> Result<Verdict> {
    if excess == Excess::Within {
        return Ok(Verdict::Fine);
    }
    if settings.auto_ban_user_on_excessive_projects_download {
        if bans::lock_out(tx, group.id, user.id)? {
            notify_managers(tx, group, settings, user, true)?;
        }
        return Ok(Verdict::LockedOut);
    }
    if excess == Excess::First {
        notify_managers(tx, group, settings, user, false)?;
    }
    Ok(Verdict::Fine)
}

/// What the installation does about a download.
fn follow_instance(
    tx: &mut Tx<'_>,
    settings: &Settings,
    user: &User,
    excess: Excess,
) -> Result<Verdict> {
    if excess == Excess::Within {
        return Ok(Verdict::Fine);
    }
    if settings.auto_ban_user_on_excessive_projects_download() {
        if life::ban_for_downloads(tx, user)? {
            notify_administrators(tx, user, "They are banned; an administrator may unban them.")?;
        }
        return Ok(Verdict::LockedOut);
    }
    if excess == Excess::First {
        notify_administrators(tx, user, "They are not banned.")?;
    }
    Ok(Verdict::Fine)
}

fn notify_administrators(tx: &mut Tx<'_>, user: &User, then: &str) -> Result<()> {
    let mut ids = tx.administrators()?;
    ids.truncate(MOST_READERS.into());
    let subject = "Many projects were downloaded".to_owned();
    let text = format!(
        "{} (@{}) downloaded more projects than the installation lets one person have. {then}",
        user.name, user.username
    );
    for reader in tx.users_by_id(&ids)?.into_values() {
        mail::send(tx, Letter { to: reader.email, subject: subject.clone(), text: text.clone() })?;
    }
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
        true => tx.managers(Source::Group(group.id), MOST_READERS.into())?,
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
