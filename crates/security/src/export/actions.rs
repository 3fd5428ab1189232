//! Requesting, writing and reading exports.

use db::Tx;
use kernel::{
    AccessLevel::Developer,
    Actor, Error, Grant, Result, Ts,
    ids::{ProjectId, UserId, VulnerabilityExportId, VulnerabilityId},
};
use time::Duration;
use worker::Queue as _;

use super::{Export, ExportScope, ExportStore as _, Status, Step, WriteExport, csv::Line};
use crate::{
    dashboard,
    policy::{ReadGroupVulnerabilities, ReadVulnerabilities, UseVulnerabilityExports},
    ports::Directory,
    vulnerability::{ChangeStore as _, VulnerabilityStore as _},
};

/// How long an export stays.
pub const LIFETIME: Duration = Duration::hours(1);
/// An export that could not be written so often has failed.
pub const WRITE_ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::seconds(10);

/// An export as it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewExport {
    pub send_email: bool,
}

/// The result of requesting an export.
#[derive(Clone, Debug)]
pub enum Creation {
    Created(Export),
    /// The author already has an unfinished export of the same projects.
    Underway,
}

pub fn create_for_project(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadVulnerabilities>,
    new: NewExport,
) -> Result<Creation> {
    create(tx, grant.user()?, ExportScope::Project(grant.project()), new)
}

pub fn create_for_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupVulnerabilities>,
    new: NewExport,
) -> Result<Creation> {
    create(tx, grant.user()?, ExportScope::Group(grant.group()), new)
}

/// Of the projects on the caller's dashboard.
pub fn create_for_dashboard(
    tx: &mut Tx<'_>,
    grant: &Grant<UseVulnerabilityExports>,
    new: NewExport,
) -> Result<Creation> {
    create(tx, grant.user()?, ExportScope::Dashboard, new)
}

fn create(tx: &mut Tx<'_>, author: UserId, scope: ExportScope, new: NewExport) -> Result<Creation> {
    if tx.has_export_underway(author, scope)? {
        return Ok(Creation::Underway);
    }
    let (project_id, group_id) = match scope {
        ExportScope::Project(project) => (Some(project), None),
        ExportScope::Group(group) => (None, Some(group)),
        ExportScope::Dashboard => (None, None),
    };
    let export = tx.insert_export(&Export {
        id: VulnerabilityExportId(0),
        author_id: author,
        project_id,
        group_id,
        status: Status::Created,
        send_email: new.send_email,
        created_at: tx.now,
        started_at: None,
        finished_at: None,
        expires_at: tx.now.plus(LIFETIME),
    })?;
    tx.enqueue(&WriteExport { export: export.id, failures: 0 })?;
    Ok(Creation::Created(export))
}

/// An export, for its author alone, and only as long as they could ask for it.
///
/// # Errors
/// `NotFound` where there is none, or its hour is over; `Forbidden` for others.
pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<UseVulnerabilityExports>,
    directory: &impl Directory,
    id: VulnerabilityExportId,
) -> Result<Export> {
    let export = tx.find_export(id)?.ok_or_else(Error::missing)?;
    if grant.user()? != export.author_id || !may_create(tx, grant.actor(), directory, &export)? {
        return Err(Error::forbidden());
    }
    Ok(export)
}

/// As [`read`], for its file.
///
/// # Errors
/// `NotFound` where there is no file yet, or never will be.
pub fn read_finished(
    tx: &mut Tx<'_>,
    grant: &Grant<UseVulnerabilityExports>,
    directory: &impl Directory,
    id: VulnerabilityExportId,
) -> Result<Export> {
    let export = read(tx, grant, directory, id)?;
    match export.status {
        Status::Finished => Ok(export),
        _ => Err(Error::not_found("Vulnerability Export")),
    }
}

fn may_create(
    tx: &mut Tx<'_>,
    actor: Actor,
    directory: &impl Directory,
    export: &Export,
) -> Result<bool> {
    let actor = directory.reader(tx, actor)?;
    let who = match export.scope() {
        ExportScope::Dashboard => return Ok(true),
        ExportScope::Project(project) => directory.in_project(tx, actor, project)?,
        ExportScope::Group(group) => directory.in_group(tx, actor, group)?,
    };
    Ok(who.is_some_and(|who| who.is(Developer)))
}

/// Starts an export, or restarts an interrupted one; `None` if there is nothing to write.
pub fn begin(tx: &mut Tx<'_>, id: VulnerabilityExportId) -> Result<Option<Export>> {
    let Some(mut export) = tx.find_export(id)? else { return Ok(None) };
    if export.status.is_final() {
        return Ok(None);
    }
    if export.status == Status::Running {
        export.status = export.status.after(Step::Retry)?;
    }
    let status = export.status.after(Step::Start)?;
    let export = Export { status, started_at: Some(tx.now), ..export };
    tx.save_export(&export)?;
    Ok(Some(export))
}

/// Notes that an export could not be written: it is tried again later and later, and fails after [`WRITE_ATTEMPTS`].
/// Returns the export when this was the last attempt.
pub fn note_failure(tx: &mut Tx<'_>, work: WriteExport) -> Result<Option<Export>> {
    let failures = work.failures.saturating_add(1);
    if failures >= WRITE_ATTEMPTS {
        return end(tx, work.export, Step::Fail);
    }
    let pause = FIRST_PAUSE * (1_i32 << work.failures);
    let at = tx.now.plus(pause);
    tx.enqueue_at(&WriteExport { failures, ..work }, at)?;
    Ok(None)
}

/// Ends an export, with or without a file. `None` where it is gone meanwhile.
pub fn end(tx: &mut Tx<'_>, id: VulnerabilityExportId, step: Step) -> Result<Option<Export>> {
    let Some(export) = tx.find_export(id)? else { return Ok(None) };
    let now: Ts = tx.now;
    let ended = Export {
        status: export.status.after(step)?,
        finished_at: Some(now),
        expires_at: now.plus(LIFETIME),
        ..export
    };
    tx.save_export(&ended)?;
    Ok(Some(ended))
}

/// The projects whose vulnerabilities an export lists: those in which its author may see them.
pub fn projects(
    tx: &mut Tx<'_>,
    directory: &impl Directory,
    export: &Export,
) -> Result<Vec<ProjectId>> {
    let Some(author) = directory.actor(tx, export.author_id)? else { return Ok(Vec::new()) };
    let actor = directory.reader(tx, author)?;
    let mut asked = match export.scope() {
        ExportScope::Project(project) => vec![project],
        ExportScope::Group(group) => directory.projects_of_group(tx, actor, group)?,
        ExportScope::Dashboard => dashboard::projects(tx, export.author_id)?,
    };
    asked.sort_unstable();
    directory.developed(tx, actor, &asked)
}

/// A batch of CSV lines of a project after a vulnerability, and the last vulnerability of the batch.
pub fn lines(
    tx: &mut Tx<'_>,
    directory: &impl Directory,
    project: ProjectId,
    after: VulnerabilityId,
    most: i64,
) -> Result<(Vec<Line>, Option<VulnerabilityId>)> {
    let rows = tx.vulnerabilities_after(project, after, most)?;
    let Some(names) = directory.names(tx, project)? else { return Ok((Vec::new(), None)) };
    let ids: Vec<VulnerabilityId> = rows.iter().map(|row| row.id).collect();
    let changes = tx.state_changes(&ids)?;
    let people: Vec<UserId> = changes.iter().filter_map(|change| change.user_id).collect();
    let usernames = directory.usernames(tx, &people)?;
    let last = ids.last().copied();
    let line = |row| Line::new(&names, &row, &changes, &usernames);
    Ok((rows.into_iter().map(line).collect::<Result<_>>()?, last))
}
