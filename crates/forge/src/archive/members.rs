//! Members of an archive's project or group: those who have an account here, and no more rights than whoever imports.

use std::{collections::BTreeSet, path::Path};

use db::{Tx, archive::ArchiveRow};
use kernel::{
    AccessLevel, Actor, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::{
    access::{level_in_project, lock_access_projection},
    member::{NewMember, Source, steps, store::MemberStore as _},
    user::store::UserStore as _,
};
use serde_json::Value;

use super::{failure::ArchiveError, layout, lines, rows::Context};
/// Members of one archive.
const MOST: usize = 50_000;

/// A member of an archive's project or group, as there is one here.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArchivedMember {
    member: NewMember,
    since: Option<Ts>,
}

pub(super) fn of_project(
    context: &Context,
    project: ProjectId,
    folder: &Path,
) -> Result<Vec<ArchivedMember>, ArchiveError> {
    let path = layout::of_project(&org::project::archive::MEMBERS);
    read(context, Source::Project(project), folder, &path)
}

pub(super) fn of_group(
    context: &Context,
    group: NamespaceId,
    folder: &Path,
) -> Result<Vec<ArchivedMember>, ArchiveError> {
    let path = layout::of_group(context.source_home, &org::namespace::archive::MEMBERS);
    read(context, Source::Group(group), folder, &path)
}

fn read(
    context: &Context,
    source: Source,
    folder: &Path,
    path: &str,
) -> Result<Vec<ArchivedMember>, ArchiveError> {
    let rows: Vec<ArchiveRow> = lines::read_all(folder, path, MOST)?;
    Ok(rows.iter().filter_map(|row| member(context, source, row)).collect())
}

/// Adds those of a project that are no members yet, with no more rights than whoever imports has there.
pub(super) fn insert_of_project(
    tx: &mut Tx<'_>,
    importer: UserId,
    project: ProjectId,
    new: &[ArchivedMember],
) -> Result<()> {
    let most = match tx.user(importer)?.admin {
        true => AccessLevel::Owner,
        false => {
            let actor = Actor { id: Some(importer), ..Actor::ANONYMOUS };
            level_in_project(tx, actor, project)?
        }
    };
    let bounded = new.iter().filter(|_| most > AccessLevel::NoAccess).map(|one| {
        let access_level = one.member.access_level.min(most);
        ArchivedMember { member: NewMember { access_level, ..one.member }, ..*one }
    });
    insert(tx, &bounded.collect::<Vec<_>>())
}

/// Adds those that are no members yet, and that were not removed since the import looked for them.
pub(super) fn insert(tx: &mut Tx<'_>, new: &[ArchivedMember]) -> Result<()> {
    // Whoever removes a user asks for this before they wait for the user.
    lock_access_projection(tx)?;
    let users: BTreeSet<UserId> = new.iter().map(|one| one.member.user_id).collect();
    let present = tx.hold_users(&Vec::from_iter(users))?;
    for ArchivedMember { member, since } in new {
        if present.contains(&member.user_id)
            && tx.find_member(member.source, member.user_id)?.is_none()
            && member.expires_at.is_none_or(|at| at > tx.now)
        {
            steps::insert_archived(tx, member, *since)?;
        }
    }
    Ok(())
}

fn member(context: &Context, source: Source, row: &ArchiveRow) -> Option<ArchivedMember> {
    let number = |name: &str| row.get(name).and_then(Value::as_i64);
    let moment = |name: &str| row.get(name).and_then(Value::as_str).and_then(Ts::parse);
    let user = *context.people.get(&number("user_id")?)?;
    let member = NewMember {
        source,
        user_id: UserId(user),
        access_level: AccessLevel::find(number("access_level")?)?,
        expires_at: moment("expires_at"),
        created_by: Some(context.import.user_id),
    };
    Some(ArchivedMember { member, since: moment("created_at") })
}
