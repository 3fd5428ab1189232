//! Exports of vulnerabilities: written in the background into files, which are fetched and go again.

use std::{
    fs::File,
    io::{Seek as _, Write as _},
};

use bytes::Bytes;
use futures_util::Stream;
use kernel::{
    Error, Grant, Result, Ts,
    error::Kind,
    ids::{ProjectId, VulnerabilityExportId, VulnerabilityId},
};
use org::{
    mail::{self, Letter},
    namespace::store::NamespaceStore as _,
    project::store::ProjectStore as _,
    user::store::UserStore as _,
};
use security::{
    export::{
        Export, ExportScope, ExportStore as _, RemoveExports, Step, WriteExport, actions,
        csv::HEADER,
    },
    policy::UseVulnerabilityExports,
};
use time::macros::format_description;

use crate::{Forge, ports::security::Directory};

/// Vulnerabilities that are read at once.
const PAGE: i64 = 500;
/// Bytes of a file.
const LARGEST: u64 = 1 << 30;
/// Exports that go in one transaction.
const AT_ONCE: i64 = 500;

/// Writes an export. One that would be too large fails, and one that cannot be written after some attempts.
pub(crate) async fn write(forge: Forge, job: WriteExport) -> Result<()> {
    let Err(cause) = try_write(&forge, job.export).await else { return Ok(()) };
    tracing::warn!(export = job.export.0, failures = job.failures + 1, error = %cause, "an export was not written");
    let link = link(&forge, job.export);
    let note = move |tx: &mut db::Tx<'_>| match actions::note_failure(tx, job)? {
        Some(failed) => notify(tx, &failed, &link),
        None => Ok(()),
    };
    forge.db.write(note).await
}

async fn try_write(forge: &Forge, id: VulnerabilityExportId) -> Result<()> {
    let begun = forge.db.write(move |tx| {
        let begun = actions::begin(tx, id)?;
        let is_gone = begun.is_none() && tx.find_export(id)?.is_none();
        Ok((begun, is_gone))
    });
    let export = match begun.await? {
        (Some(export), _) => export,
        // An attempt that was stopped may have left a file behind.
        (None, true) => return forge.exports.remove(&Export::location(id)).await,
        (None, false) => return Ok(()),
    };
    let step = match file(forge, &export).await? {
        Some(file) => {
            // Somebody may have been stopped behind that.
            forge.exports.remove(&Export::location(id)).await?;
            forge.exports.keep_file(&Export::location(id), file).await?;
            Step::Finish
        }
        None => Step::Fail,
    };
    let link = link(forge, id);
    let end = move |tx: &mut db::Tx<'_>| {
        let ended = actions::end(tx, id, step)?;
        if let Some(export) = &ended {
            notify(tx, export, &link)?;
        }
        Ok(ended.is_some())
    };
    // Its hour may have ended meanwhile.
    match forge.db.write(end).await? {
        true => Ok(()),
        false => forge.exports.remove(&Export::location(id)).await,
    }
}

/// Where an export is fetched.
fn link(forge: &Forge, id: VulnerabilityExportId) -> String {
    forge.urls.at(&format!("api/v4/security/vulnerability_exports/{id}/download"))
}

/// All lines; `None` where there are too many.
async fn file(forge: &Forge, export: &Export) -> Result<Option<File>> {
    let asked = export.clone();
    let projects = forge.db.read(move |tx| actions::projects(tx, &Directory, &asked)).await?;
    let mut file = tempfile::tempfile().map_err(Error::internal)?;
    file.write_all(HEADER.as_bytes()).map_err(Error::internal)?;
    let mut size = 0_u64;
    for project in projects {
        let mut after = VulnerabilityId(0);
        while let (text, Some(last)) = page(forge, project, after).await? {
            size += u64::try_from(text.len()).unwrap_or(LARGEST);
            if size > LARGEST {
                return Ok(None);
            }
            file.write_all(text.as_bytes()).map_err(Error::internal)?;
            after = last;
        }
    }
    file.rewind().map_err(Error::internal)?;
    Ok(Some(file))
}

async fn page(
    forge: &Forge,
    project: ProjectId,
    after: VulnerabilityId,
) -> Result<(String, Option<VulnerabilityId>)> {
    let read = forge.db.read(move |tx| actions::lines(tx, &Directory, project, after, PAGE));
    let (lines, last) = read.await?;
    Ok((lines.into_iter().map(|line| line.0).collect(), last))
}

/// Tells an author who wants a letter that there is something to fetch, or will be nothing.
fn notify(tx: &mut db::Tx<'_>, export: &Export, link: &str) -> Result<()> {
    if !export.send_email {
        return Ok(());
    }
    let Some(author) = tx.find_user(export.author_id)? else { return Ok(()) };
    let text = match export.status {
        security::export::Status::Finished => format!(
            "Hello {},\n\nthe vulnerabilities that you asked for are ready. For an hour they are here:\n\n  {link}\n",
            author.name
        ),
        _ => format!(
            "Hello {},\n\nthe vulnerabilities that you asked for could not be exported.\n",
            author.name
        ),
    };
    mail::send(tx, Letter { to: author.email, subject: "Vulnerability export".to_owned(), text })
}

/// Takes the exports away whose hour is over: the files first, so that a row is left as long as its file.
pub(crate) async fn remove(forge: Forge, _: RemoveExports) -> Result<()> {
    loop {
        let over = forge.db.read(|tx| tx.expired_exports(AT_ONCE)).await?;
        if over.is_empty() {
            return Ok(());
        }
        for id in &over {
            forge.exports.remove(&Export::location(*id)).await?;
        }
        forge.db.write(move |tx| tx.delete_expired_exports(&over)).await?;
    }
}

/// A file to fetch.
pub struct Download<S> {
    pub name: String,
    pub size: u64,
    pub pieces: S,
}

/// The file of an export, piece by piece.
///
/// # Errors
/// As [`actions::read_finished`].
pub async fn download(
    forge: &Forge,
    grant: Grant<UseVulnerabilityExports>,
    id: VulnerabilityExportId,
) -> Result<Download<impl Stream<Item = std::io::Result<Bytes>> + use<>>> {
    let found = forge.db.read(move |tx| {
        let export = actions::read_finished(tx, &grant, &Directory, id)?;
        Ok((scope_name(tx, &export)?, export.created_at))
    });
    let (scope, created_at) = found.await?;
    let read = forge.exports.read(&Export::location(id)).await;
    let (size, pieces) = read.map_err(|failure| match failure.is_plain(Kind::NotFound) {
        true => Error::not_found("Vulnerability Export"),
        false => failure,
    })?;
    let name = format!("{scope}_vulnerabilities_{}.csv", minute(created_at));
    Ok(Download { name, size, pieces })
}

fn scope_name(tx: &mut db::Tx<'_>, export: &Export) -> Result<String> {
    let path = match export.scope() {
        ExportScope::Project(project) => tx.find_project(project)?.map(|found| found.full_path),
        ExportScope::Group(group) => tx.find_namespace(group)?.map(|found| found.full_path),
        ExportScope::Dashboard => None,
    };
    Ok(path.map_or_else(|| "instance".to_owned(), |path| path.replace('/', "-")))
}

/// `2022-10-07T1334`
fn minute(at: Ts) -> String {
    let form = format_description!("[year]-[month]-[day]T[hour][minute]");
    at.datetime().format(&form).unwrap_or_default()
}
