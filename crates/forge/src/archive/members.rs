//! Members of an archive's project or group: those who have an account here, and no more rights than whoever imports.

use std::path::Path;

use db::{Tx, archive::ArchiveRow};
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::member::{NewMember, Source, steps, store::MemberStore as _};
use serde_json::Value;

use super::{failure::ArchiveError, layout, lines, rows::Context};
/// Members of one archive.
const MOST: usize = 50_000;

pub(super) fn of_project(
    context: &Context,
    project: ProjectId,
    folder: &Path,
) -> Result<Vec<NewMember>, ArchiveError> {
    let path = layout::of_project(&org::project::archive::MEMBERS);
    read(context, Source::Project(project), folder, &path)
}

pub(super) fn of_group(
    context: &Context,
    group: NamespaceId,
    folder: &Path,
) -> Result<Vec<NewMember>, ArchiveError> {
    let path = layout::of_group(context.source_home, &org::namespace::archive::MEMBERS);
    read(context, Source::Group(group), folder, &path)
}

fn read(
    context: &Context,
    source: Source,
    folder: &Path,
    path: &str,
) -> Result<Vec<NewMember>, ArchiveError> {
    let rows: Vec<ArchiveRow> = lines::read_all(folder, path, MOST)?;
    Ok(rows.iter().filter_map(|row| member(context, source, row)).collect())
}

/// Adds those that are no members yet.
pub(super) fn insert(tx: &mut Tx<'_>, new: &[NewMember]) -> Result<()> {
    for one in new {
        if tx.find_member(one.source, one.user_id)?.is_none()
            && one.expires_at.is_none_or(|at| at > tx.now)
        {
            steps::insert(tx, one)?;
        }
    }
    Ok(())
}

fn member(context: &Context, source: Source, row: &ArchiveRow) -> Option<NewMember> {
    let number = |name: &str| row.get(name).and_then(Value::as_i64);
    let user = *context.people.get(&number("user_id")?)?;
    Some(NewMember {
        source,
        user_id: UserId(user),
        access_level: AccessLevel::find(number("access_level")?)?,
        expires_at: row.get("expires_at").and_then(Value::as_str).and_then(Ts::parse),
        created_by: Some(context.import.user_id),
    })
}
