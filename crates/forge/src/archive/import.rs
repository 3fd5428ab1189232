//! Reading archives in the background: taken apart, looked at as a whole, and then written, some rows in each
//! transaction, with the place at which to go on.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration as Wait,
};

use admin::{
    archive::{
        ArchiveHome, ArchiveIdStore as _, ArchiveImport, ArchiveImportStore as _, ReadArchive,
    },
    import::{ImportStatus, ImportStep, ImportStore as _},
};
use db::{
    Tx,
    archive::{ArchiveRow, Relation},
};
use futures_util::TryStreamExt as _;
use kernel::{
    Error, Result, TextEnum as _,
    ids::{ArchiveImportId, ProjectId, UserId},
    task::spawn_blocking,
};
use org::{
    access::lock_access_projection,
    project::{Settings, import::move_status, statistics::StatisticsStore as _},
};
use security::integration::archive::{INTEGRATIONS, insert_integrations};
use time::Duration;
use worker::Queue as _;

use super::{
    bundle,
    check::{self, ProjectTree},
    deputies, discard,
    failure::ArchiveError,
    files, groups, identities, job_artifacts, job_logs, layout,
    lines::{self, Lines},
    members, numbers, people, pipelines,
    progress::{LONGEST_STEP, ensure_current, later, lines_done, save_page, withdraw},
    replace,
    rows::{self, Context, PAGE},
    settings,
    steps::{self, StepCursor},
    unpack::{UnpackLimits, unpack},
    workspace::Workspace,
};
use crate::{
    Forge,
    project::{create::USUAL_BRANCH, repository::EnsureRepository},
    runner::removal,
};

/// Failures of the machine in a row after which an import is given up.
const MOST_ATTEMPTS: i32 = 5;
const PAUSE: Duration = Duration::seconds(30);
/// Whoever keeps the file of an import has written the import down by then.
const LEFT: Wait = Wait::from_secs(24 * 60 * 60);
/// Alert integrations of one archive.
const MOST_INTEGRATIONS: usize = 100;

/// Begins to read an archive; the queue does not wait for it.
pub(crate) async fn read(forge: Forge, job: ReadArchive) -> Result<()> {
    let id = job.import;
    let begun = forge.db.write(move |tx| begin(tx, id)).await?;
    let Some(import) = begun else { return Ok(()) };
    let own = forge.clone();
    forge.imports.spawn(async move {
        if let Err(cause) = work(&own, import).await {
            tracing::error!(import = %id, error = %cause, "an archive is left for later");
        }
    });
    Ok(())
}

fn begin(tx: &mut Tx<'_>, id: ArchiveImportId) -> Result<Option<ArchiveImport>> {
    let Some(import) = tx.find_archive_import(id)? else { return Ok(None) };
    if !import.status.is_active() {
        return Ok(None);
    }
    if import.status == ImportStatus::Scheduled {
        advance(tx, &import, ImportStep::Start, None)?;
    }
    // Whoever worked on it before writes nothing more.
    tx.claim_archive_import(id)?;
    // Should this server end meanwhile, another one does it.
    tx.enqueue_at(&ReadArchive { import: id }, tx.now.plus(LONGEST_STEP))?;
    tx.find_archive_import(id)
}

/// Moves an import, and the status of its project with it; false where somebody was faster.
fn advance(
    tx: &mut Tx<'_>,
    import: &ArchiveImport,
    step: ImportStep,
    error: Option<&str>,
) -> Result<bool> {
    if let Some(project) = import.project_id
        && let Some(to) = import.status.after(step)
        && !move_status(tx, project, import.status.as_str(), to.as_str())?
    {
        return Ok(false);
    }
    tx.advance_archive_import(import.id, step, error)
}

/// Takes files away whose import has ended, or was never written down: whoever kept them was stopped.
pub(super) async fn remove_left_files(forge: &Forge) -> Result<()> {
    let unfinished = forge.db.read(|tx| tx.unfinished_archive_imports()).await?;
    let is_needed = |name: &str| {
        unfinished.iter().any(|one| ArchiveImport::location(&one.correlation_id) == name)
    };
    let mut all = Box::pin(forge.exports.list(ArchiveImport::FOLDER));
    while let Some(one) = all.try_next().await? {
        if one.is_older_than(LEFT) && !is_needed(&one.name) {
            forge.exports.remove(&one.name).await?;
        }
    }
    Ok(())
}

/// Goes on with all imports that had not ended when the server did.
pub(super) async fn resume(forge: &Forge) -> Result<()> {
    let resumed = |tx: &mut Tx<'_>| {
        let now = tx.now;
        for import in tx.unfinished_archive_imports()? {
            later(tx, import.id, now)?;
        }
        Ok(())
    };
    forge.db.write(resumed).await
}

async fn work(forge: &Forge, import: ArchiveImport) -> Result<()> {
    let id = import.id;
    match import_archive(forge, &import).await {
        Ok(()) => {}
        // Its file is for whoever works on it now.
        Err(ArchiveError::Overtaken) => return Ok(()),
        Err(failure) if failure.may_pass() && import.attempts + 1 < MOST_ATTEMPTS => {
            tracing::error!(import = %id, error = ?failure, "an archive was not read");
            let retried = move |tx: &mut Tx<'_>| {
                tx.save_archive_attempt(&import)?;
                later(tx, id, tx.now.plus(PAUSE))
            };
            return forge.db.write(retried).await;
        }
        Err(failure) => {
            tracing::warn!(import = %id, %failure, error = ?failure, "an import of an archive failed");
            give_up(forge, &import, failure.to_string()).await?;
        }
    }
    forge.exports.remove(&ArchiveImport::location(&import.correlation_id)).await
}

/// Ends an import that failed. What was brought along goes before it is said to have failed: a server that ends between
/// the two leaves an import that begins anew.
async fn give_up(forge: &Forge, import: &ArchiveImport, text: String) -> Result<()> {
    let (id, home) = (import.id, import.home());
    let cause = text.clone();
    let emptied = move |tx: &mut Tx<'_>| match tx.find_archive_import(id)? {
        // Nothing of it has been written.
        Some(now) if now.status == ImportStatus::Scheduled => fail(tx, &now, &cause).map(|()| None),
        Some(now) => discard_rows(tx, &now),
        None => Ok(None),
    };
    if forge.db.write(emptied).await?.is_none() {
        return Ok(());
    }
    discard::files(forge, id, home).await?;
    let ended = move |tx: &mut Tx<'_>| match tx.find_archive_import(id)? {
        Some(now) => fail(tx, &now, &text),
        None => Ok(()),
    };
    forge.db.write(ended).await
}

/// Has an import end as failed, with the reason, and nobody work on it any more.
fn fail(tx: &mut Tx<'_>, import: &ArchiveImport, reason: &str) -> Result<()> {
    withdraw(tx, import.id)?;
    advance(tx, import, ImportStep::Fail, Some(reason)).map(drop)
}

/// Removes the rows of an import, and has it be nowhere until its files are removed, too: should the server end before
/// that, both are removed again. Returns the import as it is then, and nothing where somebody else works on it by now.
fn discard_rows(tx: &mut Tx<'_>, seen: &ArchiveImport) -> Result<Option<ArchiveImport>> {
    if !tx.save_archive_progress(seen, steps::NOWHERE, 0)? {
        return Ok(None);
    }
    discard::rows(tx, seen.id, seen.home())?;
    go_on(tx, seen.id)
}

/// Has an import without rows and files begin; returns it as it is then, and nothing where somebody else works on it by
/// now.
fn begin_anew(tx: &mut Tx<'_>, seen: &ArchiveImport) -> Result<Option<ArchiveImport>> {
    match tx.save_archive_progress(seen, 0, 0)? {
        true => go_on(tx, seen.id),
        false => Ok(None),
    }
}

/// An import as it is now. Should this server end meanwhile, another one goes on with it.
fn go_on(tx: &mut Tx<'_>, id: ArchiveImportId) -> Result<Option<ArchiveImport>> {
    later(tx, id, tx.now.plus(LONGEST_STEP))?;
    tx.find_archive_import(id)
}

/// An import, and how far it is in all of its steps. Where none of these has its place, it begins anew.
pub(super) async fn locate(
    forge: &Forge,
    import: &ArchiveImport,
    all: &[String],
) -> Result<(ArchiveImport, StepCursor), ArchiveError> {
    if let Some(cursor) = StepCursor::at(import.relation, all) {
        return Ok((import.clone(), cursor));
    }
    let seen = import.clone();
    let emptied = forge.db.write(move |tx: &mut Tx<'_>| discard_rows(tx, &seen)).await?;
    let emptied = emptied.ok_or(ArchiveError::Overtaken)?;
    discard::files(forge, emptied.id, emptied.home()).await?;
    let begun = forge.db.write(move |tx: &mut Tx<'_>| begin_anew(tx, &emptied)).await?;
    Ok((begun.ok_or(ArchiveError::Overtaken)?, StepCursor::start(all)))
}

/// Ends the imports of somebody who is about to be removed: their rows go with their user, and nobody would end them then.
pub(crate) async fn end_imports_of(forge: &Forge, user: UserId) -> Result<()> {
    for import in forge.db.read(move |tx| tx.unfinished_archive_imports_by(user)).await? {
        give_up(forge, &import, "Whoever imported it was removed.".to_owned()).await?;
        forge.exports.remove(&ArchiveImport::location(&import.correlation_id)).await?;
    }
    Ok(())
}

async fn import_archive(forge: &Forge, import: &ArchiveImport) -> Result<(), ArchiveError> {
    let folder = fetch_and_unpack(forge, import).await?;
    match import.home() {
        ArchiveHome::Project(id) => project(forge, import, id, folder.path()).await,
        ArchiveHome::Group(id) => groups::import(forge, import, id, folder.path()).await,
    }
}

async fn fetch_and_unpack(
    forge: &Forge,
    import: &ArchiveImport,
) -> Result<Workspace, ArchiveError> {
    let location = ArchiveImport::location(&import.correlation_id);
    let reader = forge.exports.reader_of(&location).await?;
    let size = forge.exports.read(&location).await.map(|(size, _)| size)?;
    let data = forge.data().to_owned();
    let unpacked = spawn_blocking(move || {
        let folder = Workspace::new(&data)?;
        unpack(reader, folder.path(), UnpackLimits::for_size(size))?;
        Ok(folder)
    });
    unpacked.await.map_err(Error::internal)?
}

async fn project(
    forge: &Forge,
    import: &ArchiveImport,
    id: ProjectId,
    folder: &Path,
) -> Result<(), ArchiveError> {
    let from = folder.to_owned();
    let checked = spawn_blocking(move || check::project(&from)).await;
    let tree = checked.map_err(Error::internal)??;
    let (mut seen, cursor) = locate(forge, import, &steps::of_project()).await?;
    if let Some(place) = cursor.place(steps::LISTS).filter(|_| seen.relation == 0) {
        seen = land(forge, seen, place, id, folder, &tree).await?;
    }
    let source = ProjectId(tree.project.id);
    let context = context(forge, import, (id.0, source.0), folder, &tree.people).await?;
    let overrides = import.overrides()?;
    let record = tree.project.overridden(&overrides.project);
    for relation in layout::project_relations() {
        if let Some(place) = cursor.place(relation.name) {
            let path = layout::of_project(relation);
            seen = relation_rows(forge, &context, seen, relation, place, folder.join(path)).await?;
        }
    }
    pipelines::end_all(forge, id).await?;
    pipelines::keep_commits(forge, import, id, folder.join(layout::REPOSITORY)).await?;
    let seen = land_job_files(forge, seen, &cursor, folder, &record.settings).await?;
    let seen = match cursor.place(steps::IDENTITIES) {
        Some(place) => identities::restore(forge, seen, place, (source, id)).await?,
        None => seen,
    };
    let members = members::of_project(&context, id, folder)?;
    let (vault, integrations) = (Arc::clone(&forge.vault), alert_integrations(folder)?);
    let picture = record.avatar.as_deref();
    let settings = settings::stage(forge, folder, tree.settings, picture).await?;
    pipelines::begin_schedules(forge, id).await?;
    let user = import.user_id;
    // Until then the project is private, and only its creator is a member.
    let ended = move |tx: &mut Tx<'_>| {
        lock_access_projection(tx)?;
        numbers::restore(tx, id)?;
        withdraw(tx, seen.id)?;
        let Some(now) = tx.find_archive_import(seen.id)? else { return Ok(()) };
        if advance(tx, &now, ImportStep::Finish, None)? {
            members::insert_of_project(tx, user, id, &members)?;
            deputies::settle(tx, user, id)?;
            tx.insert_left_out(id, &tree.left_out)?;
            insert_integrations(tx, &vault, id, &integrations)?;
            let actor = actor(tx, user)?;
            if let Some(address) = &overrides.replaces {
                replace::take_over(tx, actor, id, address)?;
            }
            org::project::archive::restore(tx, id, actor, &record)?;
            org::project::archive::finish(tx, id, &record)?;
            settings.restore(tx, id)?;
        }
        Ok(())
    };
    Ok(forge.db.write(ended).await?)
}

fn alert_integrations(folder: &Path) -> Result<Vec<ArchiveRow>, ArchiveError> {
    lines::read_all(folder, &layout::of_project(&INTEGRATIONS), MOST_INTEGRATIONS)
}

/// The logs and artifacts of jobs: their jobs are there by then.
async fn land_job_files(
    forge: &Forge,
    import: ArchiveImport,
    cursor: &StepCursor,
    folder: &Path,
    settings: &Settings,
) -> Result<ArchiveImport, ArchiveError> {
    let seen = match cursor.place(steps::JOB_LOGS) {
        Some(place) => job_logs::land(forge, import, place, folder).await?,
        None => import,
    };
    match cursor.place(steps::JOB_ARTIFACTS) {
        Some(place) => job_artifacts::land(forge, seen, place, folder, settings).await,
        None => Ok(seen),
    }
}

/// Everything that is no row: repositories and files. Returns the import as it is then, at this place.
async fn land(
    forge: &Forge,
    mut import: ArchiveImport,
    place: i64,
    id: ProjectId,
    folder: &Path,
    tree: &ProjectTree,
) -> Result<ArchiveImport, ArchiveError> {
    // Files of jobs go before anything says that this import goes on with its rows: from then on they are its own.
    ensure_current(forge, &import).await?;
    removal::remove_project(forge, id).await?;
    let head = tree.project.default_branch.as_deref().unwrap_or(USUAL_BRANCH);
    // Whoever made the project may have been stopped before its repository was there.
    EnsureRepository::with(id, head).run(forge).await?;
    let (repository, wiki) = (folder.join(layout::REPOSITORY), folder.join(layout::WIKI));
    if repository.exists() {
        let branch = tree.project.default_branch.as_deref();
        bundle::land(forge, &repository, id, import.user_id, branch).await?;
    }
    if wiki.exists() {
        bundle::land_wiki(forge, &wiki, repo::git::Wiki::Project(id)).await?;
    }
    let bytes = files::land(forge, folder, id, &import).await?;
    let (seen, numbers) = (import.clone(), tree.numbers.clone());
    let cleared = move |tx: &mut Tx<'_>| {
        if !tx.save_archive_progress(&seen, place, 0)? {
            return Ok(false);
        }
        tx.record_upload(id, bytes)?;
        // What a new project begins with gives way to what the archive has.
        discard::relations(tx, seen.home())?;
        numbers::reserve(tx, id, &numbers)?;
        tx.forget_archive_ids(seen.id).map(|()| true)
    };
    if !forge.db.write(cleared).await? {
        return Err(ArchiveError::Overtaken);
    }
    (import.relation, import.steps) = (place, import.steps + 1);
    Ok(import)
}

fn actor(tx: &mut Tx<'_>, user: kernel::ids::UserId) -> Result<kernel::Actor> {
    use org::user::store::UserStore as _;
    let user = tx.user(user)?;
    Ok(kernel::Actor { id: Some(user.id), admin: user.admin, ..kernel::Actor::ANONYMOUS })
}

pub(super) async fn context(
    forge: &Forge,
    import: &ArchiveImport,
    (home, source_home): (i64, i64),
    folder: &Path,
    named: &[people::Person],
) -> Result<Arc<Context>, ArchiveError> {
    let (user, host) = (import.user_id, forge.urls.private_mail_host());
    let all = named.to_vec();
    let people = forge.db.read(move |tx| people::find(tx, &all, user, &host)).await?;
    let mut authors = people::find_internal(forge, named).await?;
    authors.extend(&people);
    let names = Arc::new(named.iter().map(|one| (one.id, one.name.clone())).collect());
    let from = folder.to_owned();
    let uploads = spawn_blocking(move || files::uploads_by_secret(&from)).await;
    let uploads = Arc::new(uploads.map_err(Error::internal)??);
    let import = import.clone();
    let (people, authors) = (Arc::new(people), Arc::new(authors));
    Ok(Arc::new(Context { import, home, source_home, people, authors, names, uploads }))
}

/// Writes the rows of one relation that are not written yet; returns the import as it is then.
pub(super) async fn relation_rows(
    forge: &Forge,
    context: &Arc<Context>,
    import: ArchiveImport,
    relation: &'static Relation,
    place: i64,
    path: PathBuf,
) -> Result<ArchiveImport, ArchiveError> {
    let mut seen = import;
    let mut line = lines_done(&seen, place);
    let name = relation.name;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let mut lines = Lines::open_behind(&folder, &format!("{name}.ndjson"), line).await?;
    loop {
        let (rest, rows): (_, Vec<ArchiveRow>) = lines.next_page(PAGE).await?;
        lines = rest;
        if rows.is_empty() {
            return Ok(seen);
        }
        line += i64::try_from(rows.len()).unwrap_or_default();
        let context = Arc::clone(context);
        let write = move |tx: &mut Tx<'_>| rows::insert(tx, &context, relation, &rows);
        seen = save_page(forge, seen, place, line, write).await?;
    }
}
