//! Members of an archive's project or group: those who have an account here, and no more rights than whoever imports.

use std::path::Path;

use db::archive::ArchiveRow;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::member::{NewMember, Source, steps, store::MemberStore as _};
use serde_json::Value;

use super::{failure::ArchiveError, layout, lines, rows::Context};
use crate::Forge;

/// Members of one archive.
const MOST: usize = 50_000;

pub(super) async fn of_project(
    forge: &Forge,
    context: &Context,
    project: ProjectId,
    folder: &Path,
) -> Result<(), ArchiveError> {
    let path = layout::of_project(&org::project::archive::MEMBERS);
    add(forge, context, Source::Project(project), folder, &path).await
}

pub(super) async fn of_group(
    forge: &Forge,
    context: &Context,
    group: NamespaceId,
    folder: &Path,
) -> Result<(), ArchiveError> {
    let path = layout::of_group(context.source_home, &org::namespace::archive::MEMBERS);
    add(forge, context, Source::Group(group), folder, &path).await
}

async fn add(
    forge: &Forge,
    context: &Context,
    source: Source,
    folder: &Path,
    path: &str,
) -> Result<(), ArchiveError> {
    let rows: Vec<ArchiveRow> = lines::read_all(folder, path, MOST)?;
    let new: Vec<NewMember> = rows.iter().filter_map(|row| member(context, source, row)).collect();
    let added = forge.db.write(move |tx| {
        for one in &new {
            if tx.find_member(source, one.user_id)?.is_none()
                && one.expires_at.is_none_or(|at| at > tx.now)
            {
                steps::insert(tx, one)?;
            }
        }
        Ok(())
    });
    Ok(added.await?)
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
