//! Asking for archives, fetching them, and having them read.

use std::{fs::File, io::Seek as _, path::Path, sync::Arc};

use admin::{
    archive::{
        Address, ArchiveExport, ArchiveExportStore as _, ArchiveHome, ArchiveImport,
        ArchiveImportStore as _, ExportStatus, NewArchiveExport, NewArchiveImport, Overrides,
        UploadTarget,
    },
    import::ImportStatus,
    policy::{ArchiveGroup, ArchiveProject},
};
use bytes::Bytes;
use db::Tx;
use futures_util::Stream;
use kernel::{
    Error, Grant, Result, TextEnum as _,
    access::SignedIn,
    audit::{AuditPlace, AuditRecord},
    error::Kind,
    ids::{NamespaceId, ProjectId, UserId},
    task::spawn_blocking,
};
use org::{
    access::{IdOrPath, locate_group},
    namespace::{
        Namespace,
        actions::{self as groups, NewGroup},
        store::NamespaceStore as _,
    },
    project::{
        Project,
        creation::{self, Creation},
        import::{move_status, namespace_for_archive, own_namespace},
        store::ProjectStore as _,
    },
    settings::store::SettingsStore as _,
};

use super::{
    check, failure::ArchiveError, progress::later, replace, unpack, upload, workspace::Workspace,
};
use crate::{
    Forge,
    files::Upload,
    import::schedule::blocked_text,
    project::{
        create::{InitialContent, begin},
        repository::{MAKING, enqueue_repository},
    },
};

/// The name that administrators switch archives of projects off by, as a source of imports.
pub const SOURCE: &str = "gitlab_project";
const NOT_READY: &str = "The project export file is not available yet";

/// The export status of a project.
#[derive(Clone, Debug)]
pub struct ExportView {
    pub project: Project,
    /// `none`, `queued`, `started`, `finished` or `regeneration_in_progress`.
    pub status: &'static str,
    /// Whether there is a file to fetch.
    pub has_file: bool,
}

/// A file to fetch.
pub struct Download<S> {
    pub name: String,
    pub size: u64,
    pub pieces: S,
}

/// # Errors
/// `NotFound` where administrators have switched archives off.
fn ensure_enabled(forge: &Forge) -> Result<()> {
    match forge.settings().project_export_enabled() {
        true => Ok(()),
        false => Err(Error::missing()),
    }
}

/// Has an archive of a project written. While one is on its way, that one counts.
///
/// # Errors
/// `NotFound` where archives are switched off; `BadRequest` for an address that is not gone to.
pub async fn request_project(
    forge: &Forge,
    grant: &Grant<ArchiveProject>,
    description: Option<String>,
    upload: Option<UploadTarget>,
) -> Result<()> {
    ensure_enabled(forge)?;
    if let Some(target) = upload.as_ref().filter(|target| !upload::is_open(forge, &target.url)) {
        let text = format!("is blocked: {}", blocked_text(&target.url));
        return Err(Error::invalid("upload[url]", text));
    }
    let home = ArchiveHome::Project(grant.project());
    request(forge, NewArchiveExport { home, user: grant.user()?, description, upload }).await
}

/// As [`request_project`], for a group and those below it.
///
/// # Errors
/// When the database cannot be written.
pub async fn request_group(forge: &Forge, grant: &Grant<ArchiveGroup>) -> Result<()> {
    let (home, user) = (ArchiveHome::Group(grant.group()), grant.user()?);
    request(forge, NewArchiveExport { home, user, description: None, upload: None }).await
}

async fn request(forge: &Forge, new: NewArchiveExport) -> Result<()> {
    let vault = Arc::clone(&forge.vault);
    let requested = forge.db.write(move |tx| {
        if tx.request_archive(&new, &vault)? {
            record(tx, new.home, ExportAction::Request);
        }
        Ok(())
    });
    requested.await
}

/// An audited action on an export.
#[derive(Clone, Copy, Debug)]
enum ExportAction {
    Request,
    Download,
}

fn record(tx: &mut Tx<'_>, home: ArchiveHome, action: ExportAction) {
    let (place, kind, id) = match home {
        ArchiveHome::Project(project) => (AuditPlace::Project(project), "Project", project.0),
        ArchiveHome::Group(group) => (AuditPlace::Group(group), "Group", group.0),
    };
    let name = match (home, action) {
        (ArchiveHome::Project(_), ExportAction::Request) => "project_export_created",
        (ArchiveHome::Project(_), ExportAction::Download) => "project_export_file_download_started",
        (ArchiveHome::Group(_), ExportAction::Request) => "group_export_created",
        (ArchiveHome::Group(_), ExportAction::Download) => "group_export_file_download_started",
    };
    let text = match action {
        ExportAction::Request => "Export requested",
        ExportAction::Download => "Download of the export started",
    };
    tx.mention(AuditRecord::message(name, place, text).target(kind, id, "export"));
}

/// How far the archive of a project is.
///
/// # Errors
/// `NotFound` where archives are switched off.
pub async fn show(forge: &Forge, grant: &Grant<ArchiveProject>) -> Result<ExportView> {
    ensure_enabled(forge)?;
    let id = grant.project();
    let read = forge.db.read(move |tx| {
        let all = tx.archives_of(ArchiveHome::Project(id))?;
        Ok((tx.project(id)?, all))
    });
    let (project, all) = read.await?;
    let has_file = all.iter().any(|one| one.status == ExportStatus::Finished);
    Ok(ExportView { project, status: status(&all, has_file), has_file })
}

fn status(all: &[ArchiveExport], has_file: bool) -> &'static str {
    match all.iter().map(|one| one.status).find(|one| *one != ExportStatus::Failed) {
        Some(ExportStatus::Queued | ExportStatus::Started) if has_file => {
            "regeneration_in_progress"
        }
        Some(status) => status.as_str(),
        None => "none",
    }
}

/// The archive of a project, piece by piece. `is_fetched` says whether its content is asked for, which is audited.
///
/// # Errors
/// `NotFound` where there is none, or none yet.
pub async fn download_project(
    forge: &Forge,
    grant: &Grant<ArchiveProject>,
    is_fetched: bool,
) -> Result<Download<impl Stream<Item = std::io::Result<Bytes>> + use<>>> {
    ensure_enabled(forge)?;
    let id = grant.project();
    let name = forge.db.read(move |tx| Ok(tx.project(id)?.full_path)).await?;
    download(forge, ArchiveHome::Project(id), &name, is_fetched).await
}

/// As [`download_project`], for a group.
///
/// # Errors
/// `NotFound` where there is none, or none yet.
pub async fn download_group(
    forge: &Forge,
    grant: &Grant<ArchiveGroup>,
    is_fetched: bool,
) -> Result<Download<impl Stream<Item = std::io::Result<Bytes>> + use<>>> {
    let id = grant.group();
    let name = forge.db.read(move |tx| Ok(tx.namespace(id)?.full_path)).await?;
    download(forge, ArchiveHome::Group(id), &name, is_fetched).await
}

async fn download(
    forge: &Forge,
    home: ArchiveHome,
    path: &str,
    is_fetched: bool,
) -> Result<Download<impl Stream<Item = std::io::Result<Bytes>> + use<>>> {
    let all = forge.db.read(move |tx| tx.archives_of(home)).await?;
    let gone = || Error::missing().whole("404 Not found or has expired");
    let finished = all.iter().find(|one| one.status == ExportStatus::Finished);
    let export = finished.ok_or_else(|| match all.iter().any(|one| one.status.is_active()) {
        true => Error::missing().whole(NOT_READY),
        false => gone(),
    })?;
    let read = forge.exports.read(&ArchiveExport::location(export.id)).await;
    let (size, pieces) = read.map_err(|cause| match cause.is_plain(Kind::NotFound) {
        true => gone(),
        false => cause,
    })?;
    // The rows of a secondary are copies.
    if is_fetched && forge.node_identity.is_primary() {
        let written = forge.db.write(move |tx| {
            record(tx, home, ExportAction::Download);
            Ok(())
        });
        written.await?;
    }
    let day = kernel::time::date_text(export.created_at.date());
    let name = format!("{day}_{}_export.tar.gz", path.replace('/', "_"));
    Ok(Download { name, size, pieces })
}

/// A project that an archive is to become.
#[derive(Clone, Debug)]
pub struct ProjectImport {
    pub file: Upload,
    pub path: String,
    pub name: Option<String>,
    /// Id or path; the caller's own where none is named.
    pub namespace: Option<String>,
    /// Whether a project that has the path already gives way, once the new one is whole.
    pub overwrite: bool,
    pub overrides: Overrides,
}

/// Has an archive become a project.
///
/// # Errors
/// `Forbidden` where administrators have switched this source off, and for a group of which the caller is no Maintainer;
/// otherwise as projects are created. An archive that would take the place of a project is looked at before.
pub async fn import_project(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    asked: ProjectImport,
) -> Result<Project> {
    let settings = forge.db.peek(|tx| tx.settings()).await?;
    if !settings.import_sources().contains(&SOURCE) {
        return Err(Error::forbidden().because("import source is disabled"));
    }
    ensure_fits(forge, asked.file.size)?;
    if asked.overwrite {
        let file = asked.file.file.reopen().map_err(Error::internal)?;
        ensure_whole(forge, file, |folder| check::project(folder).map(drop)).await?;
    }
    let file = asked.file.file.reopen().map_err(Error::internal)?;
    let new = NewProject {
        path: asked.path,
        name: asked.name,
        namespace: asked.namespace,
        overwrite: asked.overwrite,
        overrides: asked.overrides,
    };
    make_project(forge, grant, new, file, |_, _| Ok(())).await
}

fn ensure_fits(forge: &Forge, size: u64) -> Result<()> {
    let most = forge.settings().max_import_size();
    let most = most.and_then(|most| u64::try_from(most << 20).ok()).filter(|most| *most > 0);
    match most.is_some_and(|most| size > most) {
        true => Err(Error::too_large("the file")),
        false => Ok(()),
    }
}

/// Unpacks an archive and has its content checked; returns the file at its beginning, and what was found.
///
/// # Errors
/// `BadRequest` for an archive that cannot be imported.
async fn ensure_whole<T: Send + 'static>(
    forge: &Forge,
    mut file: File,
    check: fn(&Path) -> Result<T, ArchiveError>,
) -> Result<(File, T)> {
    let data = forge.data().to_owned();
    let checked = spawn_blocking(move || {
        let size = file.metadata()?.len();
        let folder = Workspace::new(&data)?;
        unpack::unpack(&file, folder.path(), unpack::UnpackLimits::for_size(size))?;
        let found = check(folder.path())?;
        file.rewind()?;
        Ok::<_, ArchiveError>((file, found))
    });
    checked.await.map_err(Error::internal)?.map_err(|flaw| match flaw.may_pass() {
        true => Error::internal(flaw.to_string()),
        false => Error::bad_request().whole(flaw.to_string()),
    })
}

/// A project as it is made for an archive.
pub(super) struct NewProject {
    pub(super) path: String,
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) overwrite: bool,
    pub(super) overrides: Overrides,
}

/// Makes a project and has the archive read. The archive is kept first: a project that waits for one has it, wherever
/// the server is stopped. `with` runs in the transaction that makes the project, and its error prevents that.
pub(super) async fn make_project<F>(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    new: NewProject,
    file: File,
    with: F,
) -> Result<Project>
where
    F: FnOnce(&mut Tx<'_>, ProjectId) -> Result<()> + Clone + Send + 'static,
{
    let branch = forge.db.peek(|tx| tx.settings()).await?.default_branch();
    let (grant, head, user) = (grant.clone(), branch.clone(), grant.user()?);
    let correlation_id = keep(forge, file).await?;
    let kept = correlation_id.clone();
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        let namespace = target(tx, &grant, new.namespace.as_deref())?;
        let name = new.name.clone().unwrap_or_else(|| new.path.clone());
        let (mut address, mut overrides) = (Address { name, path: new.path }, new.overrides);
        if new.overwrite && replace::is_there(tx, &grant, namespace, &address.path)? {
            overrides.replaces = Some(address.clone());
            address = replace::temporary_address(&address);
        }
        let creation = Creation {
            namespace: Some(namespace),
            name: Some(address.name),
            path: Some(address.path),
            change: private(),
        };
        let made = creation::create(tx, &grant, &creation)?;
        enqueue_repository(tx, made.id, &head)?;
        let (from, to) = (ImportStatus::None, ImportStatus::Scheduled);
        move_status(tx, made.id, from.as_str(), to.as_str())?;
        let home = ArchiveHome::Project(made.id);
        let import = NewArchiveImport { home, user, overrides, correlation_id };
        let import = tx.insert_archive_import(&import)?;
        // Should the server be stopped before the repository is made.
        later(tx, import, tx.now.plus(MAKING))?;
        with(tx, made.id)?;
        Ok((made, import))
    });
    let (made, id) = unless_refused(forge, &kept, made.await).await?;
    let begun = begin(forge, made, InitialContent { branch: Some(branch), readme: None }).await;
    let made = unless_refused(forge, &kept, begun).await?;
    forge.db.write(move |tx| later(tx, id, tx.now)).await?;
    Ok(made)
}

/// Nobody sees a project before it is whole.
fn private() -> org::project::ProjectChange {
    org::project::ProjectChange {
        visibility: Some(kernel::Visibility::Private),
        ..org::project::ProjectChange::default()
    }
}

/// Keeps an archive that is to be imported; returns the correlation id that names it.
async fn keep(forge: &Forge, file: File) -> Result<String> {
    let correlation_id = ArchiveImport::new_correlation_id();
    forge.exports.keep_file(&ArchiveImport::location(&correlation_id), file).await?;
    Ok(correlation_id)
}

/// Takes a kept archive away where its import was refused. After a failure of the server the import may exist; then the
/// archive goes with the files that nobody needs.
async fn unless_refused<T>(forge: &Forge, correlation_id: &str, made: Result<T>) -> Result<T> {
    match made {
        Err(cause) if !cause.is_ours() => {
            forge.exports.remove(&ArchiveImport::location(correlation_id)).await?;
            Err(cause)
        }
        made => made,
    }
}

fn target(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, named: Option<&str>) -> Result<NamespaceId> {
    let Some(named) = named else { return own_namespace(tx, grant.user()?) };
    let path = match named.parse::<i64>() {
        Ok(id) => match tx.find_namespace(NamespaceId(id))? {
            Some(found) => found.full_path,
            None => named.to_owned(),
        },
        Err(_path) => named.to_owned(),
    };
    namespace_for_archive(tx, grant.actor(), &path)
}

/// A group that an archive is to become.
#[derive(Clone, Debug)]
pub struct GroupImport {
    pub file: Upload,
    pub name: String,
    pub path: String,
    pub parent: Option<NamespaceId>,
}

/// Has an archive become a group.
///
/// # Errors
/// `BadRequest` for an archive that cannot be imported; otherwise as groups are created.
pub async fn import_group(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    asked: GroupImport,
) -> Result<Namespace> {
    ensure_fits(forge, asked.file.size)?;
    let file = asked.file.file.reopen().map_err(Error::internal)?;
    let (name, path) = (asked.name, asked.path);
    let new = NewImportedGroup { name, path, parent: asked.parent };
    make_group(forge, grant, new, file, |_, _| Ok(())).await
}

/// A group as it is made for an archive.
pub(super) struct NewImportedGroup {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) parent: Option<NamespaceId>,
}

/// As [`make_project`], for a group. Nothing tells of an import of a group that failed, so its archive is checked before
/// the group is there and takes its path.
pub(super) async fn make_group<F>(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    new: NewImportedGroup,
    file: File,
    with: F,
) -> Result<Namespace>
where
    F: FnOnce(&mut Tx<'_>, NamespaceId) -> Result<()> + Clone + Send + 'static,
{
    let (grant, user): (_, UserId) = (grant.clone(), grant.user()?);
    let levels = |folder: &Path| check::groups(folder).map(|tree| tree.levels_below);
    let (file, levels_below) = ensure_whole(forge, file, levels).await?;
    let correlation_id = keep(forge, file).await?;
    let kept = correlation_id.clone();
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        let parent = match new.parent {
            Some(id) => {
                let (_, who) = locate_group(tx, grant.actor(), &IdOrPath::Id(id.0))?;
                Some((id, who))
            }
            None => None,
        };
        let new = NewGroup {
            name: new.name,
            path: new.path,
            parent,
            visibility: Some(kernel::Visibility::Private),
            picture_fault: None,
        };
        let group = groups::create(tx, &grant, &new, |_| {})?;
        groups::ensure_room_below(&group, levels_below)?;
        let (home, overrides) = (ArchiveHome::Group(group.id), Overrides::default());
        let import = NewArchiveImport { home, user, overrides, correlation_id };
        let import = tx.insert_archive_import(&import)?;
        later(tx, import, tx.now)?;
        with(tx, group.id)?;
        Ok(group)
    });
    unless_refused(forge, &kept, made.await).await
}

/// Whether a project came out of an archive, and what went wrong.
///
/// # Errors
/// When the database cannot be read.
pub async fn import_of(forge: &Forge, project: ProjectId) -> Result<Option<ArchiveImport>> {
    forge.db.peek(move |tx| tx.archive_import_of(ArchiveHome::Project(project))).await
}
