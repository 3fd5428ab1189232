//! Writing archives in the background.

use std::{fs::File, mem, sync::Arc};

use admin::archive::{
    ArchiveExport, ArchiveExportStore as _, ArchiveHome, ExportStep, RemoveArchives, WriteArchive,
};
use db::{Tx, archive::Relation};
use kernel::{
    Error, Result,
    ids::{ArchiveExportId, NamespaceId, ProjectId},
};
use org::{project::possible_description, user::store::UserStore as _};
use repo::git::{RepoPath, Wiki};
use time::Duration;
use worker::Queue as _;

use super::{
    bundle,
    citations::Citations,
    files, import, job_artifacts, job_logs, layout,
    pack::Packer,
    people, picture,
    rows::{self, Source},
    settings, upload,
};
use crate::Forge;

/// After this time whoever wrote an archive is gone.
const LONGEST: Duration = Duration::hours(2);
/// Archives that go in one transaction.
const AT_ONCE: i64 = 100;

/// Begins to write an archive; the queue does not wait for it.
pub(crate) async fn write(forge: Forge, job: WriteArchive) -> Result<()> {
    let id = job.export;
    let begun = forge.db.write(move |tx| begin(tx, id)).await?;
    let Some(export) = begun else { return Ok(()) };
    let own = forge.clone();
    forge.imports.spawn(async move {
        if let Err(cause) = work(&own, &export).await {
            tracing::error!(export = %id, error = %cause, "an archive is left for later");
        }
    });
    Ok(())
}

fn begin(tx: &mut Tx<'_>, id: ArchiveExportId) -> Result<Option<ArchiveExport>> {
    let begun = tx.advance_archive(id, ExportStep::Start, None)?;
    if begun.is_some() {
        // Should this server end meanwhile, another one does it.
        tx.enqueue_at(&WriteArchive { export: id }, tx.now.plus(LONGEST))?;
    }
    Ok(begun)
}

/// Goes on with all archives that were not written when the server ended.
///
/// # Errors
/// When the database cannot be written.
pub(super) async fn resume(forge: &Forge) -> Result<()> {
    let resumed = |tx: &mut Tx<'_>| {
        for export in tx.unfinished_archives()? {
            withdraw(tx, export)?;
            tx.enqueue(&WriteArchive { export })?;
        }
        Ok(())
    };
    forge.db.write(resumed).await
}

fn withdraw(tx: &mut Tx<'_>, id: ArchiveExportId) -> Result<()> {
    let kind = <WriteArchive as worker::Job>::KIND;
    tx.withdraw_work(&format!("{kind}:{id}")).map(drop)
}

async fn work(forge: &Forge, export: &ArchiveExport) -> Result<()> {
    let id = export.id;
    let failure = match deliver(forge, export).await {
        Ok(()) => None,
        // The database or the disk is away: tried again once it is back.
        Err(cause) if cause.is_of_machine() => return Err(cause),
        Err(cause) => {
            tracing::warn!(export = %id, error = %cause, "an archive was not written");
            Some(cause)
        }
    };
    let text = failure.as_ref().map(|cause| match cause.is_ours() {
        true => "the server failed".to_owned(),
        false => cause.to_string(),
    });
    let step = if failure.is_some() { ExportStep::Fail } else { ExportStep::Finish };
    let ended = forge.db.write(move |tx| {
        withdraw(tx, id)?;
        tx.advance_archive(id, step, text.as_deref())
    });
    // Its project may be gone meanwhile.
    match ended.await? {
        Some(_) if failure.is_none() => Ok(()),
        _ => forge.exports.remove(&ArchiveExport::location(id)).await,
    }
}

async fn deliver(forge: &Forge, export: &ArchiveExport) -> Result<()> {
    let file = file(forge, export).await?;
    let target = export.upload(&forge.vault)?;
    let sent = match &target {
        Some(_) => Some(file.try_clone().map_err(Error::internal)?),
        None => None,
    };
    // Somebody may have been stopped behind that.
    forge.exports.remove(&ArchiveExport::location(export.id)).await?;
    forge.exports.keep_file(&ArchiveExport::location(export.id), file).await?;
    match (target, sent) {
        (Some(target), Some(file)) => upload::send(forge, target, file).await,
        _ => Ok(()),
    }
}

async fn file(forge: &Forge, export: &ArchiveExport) -> Result<File> {
    let most = forge.settings().max_export_size();
    let most = most.and_then(|most| u64::try_from(most << 20).ok()).filter(|most| *most > 0);
    let mut packer = Packer::new(forge.data(), most)?;
    packer.text(layout::VERSION, layout::FORMAT).await?;
    let mut named = Citations::default();
    match export.home() {
        ArchiveHome::Project(id) => {
            let about = export.description.clone();
            add_project(forge, &mut packer, id, about, &mut named).await?;
        }
        ArchiveHome::Group(id) => add_groups(forge, &mut packer, id, &mut named).await?,
    }
    if !named.left_out.is_empty() {
        packer.text(layout::LEFT_OUT, &files::lines_of(&named.left_out)?).await?;
    }
    let user = export.user_id;
    let people = forge.db.read(move |tx| {
        let sees_addresses = tx.user(user)?.admin;
        people::describe(tx, &named.people, sees_addresses)
    });
    let mut text = String::new();
    for person in people.await? {
        text.push_str(&serde_json::to_string(&person).map_err(Error::internal)?);
        text.push('\n');
    }
    packer.text(layout::USERS, &text).await?;
    packer.finish().await
}

async fn add_project(
    forge: &Forge,
    packer: &mut Packer,
    id: ProjectId,
    description: Option<String>,
    named: &mut Citations,
) -> Result<()> {
    let mut record = forge.db.read(move |tx| org::project::archive::record(tx, id)).await?;
    let description = description.or(record.description);
    record.description = description.as_deref().map(possible_description);
    record.avatar = picture::write(forge, packer, id, record.avatar).await?;
    let text = serde_json::to_string(&record).map_err(Error::internal)?;
    packer.text(layout::PROJECT, &text).await?;
    let source = Source::project(id);
    for relation in layout::project_lists() {
        add_rows(forge, packer, relation, &source, &layout::of_project(relation), named).await?;
    }
    settings::write(forge, packer, id).await?;
    files::write(forge, packer, id).await?;
    bundle::keep_commits(forge, id, mem::take(&mut named.commits)).await?;
    add_bundle(forge, packer, layout::REPOSITORY, &forge.storage.repository(id)).await?;
    let wiki = Wiki::Project(id);
    if forge.storage.wiki_exists(wiki) {
        add_bundle(forge, packer, layout::WIKI, &forge.storage.wiki(wiki)).await?;
    }
    // As many as there is room for behind everything else.
    job_logs::write(forge, packer, id).await?;
    job_artifacts::write(forge, packer, id).await
}

async fn add_groups(
    forge: &Forge,
    packer: &mut Packer,
    id: NamespaceId,
    named: &mut Citations,
) -> Result<()> {
    let mut groups = forge.db.read(move |tx| org::namespace::archive::records(tx, id)).await?;
    let mut text = String::new();
    for group in &mut groups {
        let (name, own) = (group.avatar.take(), NamespaceId(group.id));
        group.avatar = picture::write_of_group(forge, packer, own, name).await?;
        text.push_str(&serde_json::to_string(group).map_err(Error::internal)?);
        text.push('\n');
    }
    packer.text(layout::GROUPS, &text).await?;
    let all: Arc<[NamespaceId]> = groups.iter().map(|group| NamespaceId(group.id)).collect();
    for group in &groups {
        let source = Source::group(NamespaceId(group.id), &all);
        for relation in layout::group_lists() {
            let path = layout::of_group(group.id, relation);
            add_rows(forge, packer, relation, &source, &path, named).await?;
        }
        let wiki = Wiki::Group(NamespaceId(group.id));
        if group.id != id.0 && forge.storage.wiki_exists(wiki) {
            let path = layout::group_wiki(group.id);
            add_bundle(forge, packer, &path, &forge.storage.wiki(wiki)).await?;
        }
    }
    let wiki = Wiki::Group(id);
    if forge.storage.wiki_exists(wiki) {
        add_bundle(forge, packer, layout::GROUP_WIKI, &forge.storage.wiki(wiki)).await?;
    }
    Ok(())
}

async fn add_rows(
    forge: &Forge,
    packer: &mut Packer,
    relation: &'static Relation,
    source: &Source,
    path: &str,
    named: &mut Citations,
) -> Result<()> {
    let (file, count) = rows::write(forge, relation, source, packer.draft()?, named).await?;
    match count {
        0 => Ok(()),
        _ => packer.file(path, file).await,
    }
}

async fn add_bundle(
    forge: &Forge,
    packer: &mut Packer,
    path: &str,
    repository: &RepoPath,
) -> Result<()> {
    let draft = packer.draft()?;
    let into = draft.try_clone().map_err(Error::internal)?;
    match bundle::write(forge, repository, into).await? {
        true => packer.file(path, draft).await,
        false => Ok(()),
    }
}

pub(crate) async fn remove(forge: Forge, _: RemoveArchives) -> Result<()> {
    remove_old(&forge).await
}

/// Takes archives away whose time is over, or that newer ones replace, and files of imports that nobody needs.
///
/// # Errors
/// When the database or the files cannot be written.
pub async fn remove_old(forge: &Forge) -> Result<()> {
    loop {
        let gone = forge.db.write(|tx| tx.delete_old_archives(AT_ONCE)).await?;
        if gone.is_empty() {
            return import::remove_left_files(forge).await;
        }
        for id in gone {
            forge.exports.remove(&ArchiveExport::location(id)).await?;
        }
    }
}
