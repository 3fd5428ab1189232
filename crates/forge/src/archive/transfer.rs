//! Groups and projects that are fetched from another installation: it is asked for an archive of each, which then becomes
//! a group or project here.

use std::{fs::File, io::BufWriter, sync::Arc, time::Duration as Wait};

use admin::{
    archive::{ArchiveHome, ArchiveImportStore as _, Overrides},
    bulk_import::{
        BulkImport, BulkImportEntity, BulkImportStore as _, BulkStep, EntityColumns, EntityKind,
        FetchEntity, NewBulkImport, NewEntity, SourceAccess,
    },
    import::ImportStatus,
    integration::UrlRule as _,
};
use db::Tx;
use kernel::{
    Actor, Error, Grant, Result, Standing,
    access::{Instance, SignedIn},
    ids::{BulkImportEntityId, BulkImportId},
    task::spawn_blocking,
};
use org::{
    access::{IdOrPath, locate_group, seen_namespace},
    namespace::store::NamespaceStore as _,
    project::import::namespace_for_archive,
    user::store::UserStore as _,
};
use outbound::{Exchange, FetchLimits};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use time::Duration;
use worker::Queue as _;

use super::actions::{NewImportedGroup, NewProject, make_group, make_project};
use crate::{
    Forge,
    import::{
        SourceClient, SourceError,
        schedule::{blocked_text, web_address},
    },
};

/// The pause between two looks at what is on its way.
const PAUSE: Duration = Duration::seconds(10);
/// How long the source may take to write an archive.
const EXPORT_TIMEOUT: Duration = Duration::days(1);
/// Failures in a row after which an entity is given up: with pauses of 10, 20 and 40 seconds between them.
const FAILURE_LIMIT: i32 = 4;
const NOT_JSON: &str =
    "the answer of the source is not JSON: check that its URL is the address of an installation";
/// After this time whoever fetched an entity is gone.
const LONGEST_STEP: Duration = Duration::hours(2);
/// An archive, where the installation sets no bound.
const ARCHIVE: FetchLimits = FetchLimits { bytes: 5 << 30, time: Wait::from_secs(60 * 60) };
/// Pages of a group's projects.
const MOST_PAGES: usize = 100;

/// Whether an entity still waits, or has ended.
enum EntityProgress {
    Wait,
    Done(BulkStep),
}

/// The next step of an entity, by what the last one brought.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NextStep {
    /// The failures in a row until now, and the pause before the entity is looked at again.
    Later(i32, Duration),
    End(BulkStep),
    Fail(String),
}

/// Begins to fetch what somebody names.
///
/// # Errors
/// `NotFound` where administrators have not switched that on; `Unprocessable` for an address that is not gone to, or a
/// destination that the caller may not fill.
pub async fn start(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    source: SourceAccess,
    entities: Vec<NewEntity>,
) -> Result<BulkImport> {
    ensure_enabled(forge)?;
    let refusal = |text: &str| Error::unprocessable().whole(text);
    let url = web_address(&source.url).ok_or_else(|| refusal("The source URL is not valid"))?;
    if !forge.courier.rules.web().allows(&url) {
        return Err(refusal(blocked_text(&url)));
    }
    let (actor, vault) = (grant.actor(), Arc::clone(&forge.vault));
    let source = SourceAccess { url, token: source.token };
    let new = NewBulkImport { user: grant.user()?, source, entities };
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        for entity in new.entities.iter().filter(|one| !one.destination_namespace.is_empty()) {
            let place = &entity.destination_namespace;
            ensure_may_fill(tx, actor, entity).map_err(|cause| match cause.is_ours() {
                true => cause,
                false => refusal(&format!(
                    "Import failed. Destination '{place}' is invalid, or you don't have permission."
                )),
            })?;
        }
        tx.insert_bulk_import(&new, &vault)
    });
    made.await
}

/// # Errors
/// Where the actor does not see the destination of an entity, or may make no such thing in it.
fn ensure_may_fill(tx: &mut Tx<'_>, actor: Actor, entity: &NewEntity) -> Result<()> {
    let place = &entity.destination_namespace;
    if entity.kind == EntityKind::Project {
        return namespace_for_archive(tx, actor, place).map(drop);
    }
    let (group, who) = locate_group(tx, actor, &IdOrPath::Path(place.clone()))?;
    let parent = tx.namespace(group.0.id)?;
    match actor.admin || !actor.external && who.is(parent.may_create_subgroups()) {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// # Errors
/// `NotFound` where administrators have not switched it on.
pub fn ensure_enabled(forge: &Forge) -> Result<()> {
    match forge.settings().bulk_import_enabled() {
        true => Ok(()),
        false => Err(Error::missing()),
    }
}

/// Cancels a bulk import of the caller's; what is here already stays.
///
/// # Errors
/// `NotFound` where it is not theirs, `Unprocessable` where it has ended.
pub async fn cancel(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    id: BulkImportId,
) -> Result<BulkImport> {
    let user = grant.user()?;
    let canceled = move |tx: &mut Tx<'_>| {
        let found = tx.find_bulk_import(id)?.filter(|found| found.user_id == user);
        let found = found.ok_or_else(Error::missing)?;
        if !tx.cancel_bulk_import(id)? {
            let text = format!("The import cannot be canceled because it is {}", found.status);
            return Err(Error::unprocessable().whole(text));
        }
        tx.find_bulk_import(id)?.ok_or_else(Error::missing)
    };
    forge.db.write(canceled).await
}

/// Does the next step for an entity; the queue does not wait for it.
pub(crate) async fn fetch(forge: Forge, job: FetchEntity) -> Result<()> {
    let id = job.entity;
    let begun = forge.db.write(move |tx| begin(tx, id)).await?;
    let Some(entity) = begun else { return Ok(()) };
    let own = forge.clone();
    forge.imports.spawn(async move {
        if let Err(cause) = work(&own, entity).await {
            tracing::error!(entity = %id, error = %cause, "an entity is left for later");
        }
    });
    Ok(())
}

fn begin(tx: &mut Tx<'_>, id: BulkImportEntityId) -> Result<Option<BulkImportEntity>> {
    if !tx.advance_entity(id, BulkStep::Start)? {
        return Ok(None);
    }
    tx.enqueue_at(&FetchEntity { entity: id }, tx.now.plus(LONGEST_STEP))?;
    tx.find_entity(id)
}

/// Goes on with all entities that had not ended when the server did.
pub(super) async fn resume(forge: &Forge) -> Result<()> {
    let resumed = |tx: &mut Tx<'_>| {
        let now = tx.now;
        for id in tx.unfinished_entities()? {
            later(tx, id, now)?;
        }
        Ok(())
    };
    forge.db.write(resumed).await
}

fn later(tx: &mut Tx<'_>, id: BulkImportEntityId, at: kernel::Ts) -> Result<()> {
    withdraw(tx, id)?;
    tx.enqueue_at(&FetchEntity { entity: id }, at)
}

fn withdraw(tx: &mut Tx<'_>, id: BulkImportEntityId) -> Result<()> {
    let kind = <FetchEntity as worker::Job>::KIND;
    tx.withdraw_work(&format!("{kind}:{id}")).map(drop)
}

async fn work(forge: &Forge, entity: BulkImportEntity) -> Result<()> {
    let id = entity.id;
    let outcome = match fetch_progress(forge, &entity).await {
        Err(SourceError::Own(cause)) if cause.is_ours() => return Err(cause),
        outcome => outcome,
    };
    // An archive that is here is read by this server, which ends by itself.
    let limit = entity.created_at.plus(EXPORT_TIMEOUT);
    let is_overdue = entity.home().is_none() && forge.db.clock().now() >= limit;
    let next = next_step(outcome, entity.attempts, is_overdue);
    let written = move |tx: &mut Tx<'_>| {
        let Some(now) = tx.find_entity(id)? else { return Ok(()) };
        let is_failed = matches!(next, NextStep::Fail(_));
        // It was canceled, or somebody else made its project meanwhile and goes on with that.
        if !now.status.is_active() || is_failed && now.home() != entity.home() {
            return Ok(());
        }
        let step = match &next {
            NextStep::Later(failures, pause) => {
                let attempts = Some(*failures);
                tx.save_entity(id, EntityColumns { attempts, ..EntityColumns::default() })?;
                return later(tx, id, tx.now.plus(*pause));
            }
            NextStep::End(step) => *step,
            NextStep::Fail(text) => {
                tx.insert_entity_failure(id, entity.entity_type_name(), text)?;
                BulkStep::Fail
            }
        };
        withdraw(tx, id)?;
        tx.advance_entity(id, step).map(drop)
    };
    forge.db.write(written).await
}

fn next_step(
    outcome: Result<EntityProgress, SourceError>,
    failures: i32,
    is_overdue: bool,
) -> NextStep {
    match outcome {
        Ok(EntityProgress::Done(step)) => NextStep::End(step),
        Ok(EntityProgress::Wait) if is_overdue => {
            NextStep::Fail("The source took too long.".to_owned())
        }
        Ok(EntityProgress::Wait) => NextStep::Later(0, PAUSE),
        // That is no failure.
        Err(SourceError::RateLimited { seconds }) if !is_overdue => {
            NextStep::Later(failures, Duration::seconds(seconds).max(PAUSE))
        }
        Err(SourceError::Malformed(_)) => NextStep::Fail(NOT_JSON.to_owned()),
        Err(failure) if failure.is_passing() && failures + 1 < FAILURE_LIMIT => {
            NextStep::Later(failures + 1, PAUSE * (1_i32 << failures.clamp(0, FAILURE_LIMIT)))
        }
        Err(failure) => NextStep::Fail(failure.to_string()),
    }
}

async fn fetch_progress(
    forge: &Forge,
    entity: &BulkImportEntity,
) -> Result<EntityProgress, SourceError> {
    let (id, of) = (entity.id, entity.bulk_import_id);
    let import = forge.db.read(move |tx| tx.find_bulk_import(of)).await?;
    let Some(import) = import else { return Ok(EntityProgress::Done(BulkStep::Fail)) };
    if let Some(home) = entity.home() {
        return follow_import(forge, entity, &import, home).await;
    }
    let source = import.source(&forge.vault)?;
    let Some(source) = source else { return Ok(EntityProgress::Done(BulkStep::Fail)) };
    let client = SourceClient::new(forge, Some(format!("Bearer {}", source.token)));
    let address = address(&source, entity);
    if !entity.is_requested {
        let kind = "application/json";
        client.post(format!("{address}/export"), &json!({}), kind).await?;
        let columns = EntityColumns { is_requested: Some(true), ..EntityColumns::default() };
        forge.db.write(move |tx| tx.save_entity(id, columns)).await?;
        return Ok(EntityProgress::Wait);
    }
    if entity.entity_type == EntityKind::Project {
        let status = client.get(format!("{address}/export")).await?.body;
        if status["export_status"].as_str() != Some("finished") {
            return Ok(EntityProgress::Wait);
        }
    }
    let file = match download(forge, &client, format!("{address}/export/download")).await {
        // Groups tell in no other way that theirs is not ready.
        Err(SourceError::Missing) if entity.entity_type == EntityKind::Group => {
            return Ok(EntityProgress::Wait);
        }
        file => file?,
    };
    arrive(forge, entity, &import, file).await?;
    Ok(EntityProgress::Wait)
}

fn encode(path: &str) -> String {
    utf8_percent_encode(path, NON_ALPHANUMERIC).to_string()
}

fn address(source: &SourceAccess, entity: &BulkImportEntity) -> String {
    let kind = match entity.entity_type {
        EntityKind::Group => "groups",
        EntityKind::Project => "projects",
    };
    format!("{}/api/v4/{kind}/{}", source.url, encode(&entity.source_full_path))
}

async fn download(forge: &Forge, client: &SourceClient, url: String) -> Result<File, SourceError> {
    let most = forge.settings().max_import_size();
    let most = most.and_then(|most| u64::try_from(most << 20).ok()).filter(|most| *most > 0);
    let limits = FetchLimits { bytes: most.unwrap_or(ARCHIVE.bytes), ..ARCHIVE };
    let (agent, headers, data) = (client.agent(), client.headers(), forge.data().to_owned());
    let fetched = spawn_blocking(move || -> Result<_, SourceError> {
        let file = tempfile::tempfile_in(data).map_err(Error::internal)?;
        let mut sink = BufWriter::new(file);
        let request = Exchange { method: "GET", url: &url, headers: &headers, body: &[], limits };
        let head = agent.exchange(&request, &mut sink)?;
        let mut file = sink.into_inner().map_err(|cause| Error::internal(cause.into_error()))?;
        std::io::Seek::rewind(&mut file).map_err(Error::internal)?;
        Ok((head, file))
    });
    let (head, file) = fetched.await.map_err(Error::internal)??;
    client.ensure_answered(&head)?;
    Ok(file)
}

/// Has a fetched archive become a group or project of whoever asked for it. The entity knows of it at once: whoever goes
/// on after this server was stopped does not make a second one.
async fn arrive(
    forge: &Forge,
    entity: &BulkImportEntity,
    import: &BulkImport,
    file: File,
) -> Result<(), SourceError> {
    let (id, user, place) = (entity.id, import.user_id, entity.destination_namespace.clone());
    let actor = forge.db.read(move |tx| Ok(tx.user(user)?.actor())).await?;
    let grant: Grant<SignedIn> = Grant::check(&Standing::in_instance(actor), Instance)?;
    let path = entity.destination_slug.clone();
    match entity.entity_type {
        EntityKind::Project => {
            let new = NewProject {
                path,
                name: None,
                namespace: Some(place).filter(|place| !place.is_empty()),
                overwrite: false,
                overrides: Overrides::default(),
            };
            let noted = move |tx: &mut Tx<'_>, made| {
                let columns = EntityColumns { project_id: Some(made), ..EntityColumns::default() };
                note_home(tx, id, columns)
            };
            make_project(forge, &grant, new, file, noted).await?;
        }
        EntityKind::Group => {
            let parent = forge.db.read(move |tx| match place.is_empty() {
                true => Ok(None),
                false => seen_namespace(tx, actor, &IdOrPath::Path(place)).map(|one| Some(one.id)),
            });
            let new = NewImportedGroup { name: path.clone(), path, parent: parent.await? };
            let noted = move |tx: &mut Tx<'_>, made| {
                let columns =
                    EntityColumns { namespace_id: Some(made), ..EntityColumns::default() };
                note_home(tx, id, columns)
            };
            make_group(forge, &grant, new, file, noted).await?;
        }
    }
    Ok(())
}

/// Notes what an entity became.
///
/// # Errors
/// `Conflict` where it was canceled, or became something before.
fn note_home(tx: &mut Tx<'_>, id: BulkImportEntityId, home: EntityColumns) -> Result<()> {
    let now = tx.find_entity(id)?.ok_or_else(Error::missing)?;
    match now.status.is_active() && now.home().is_none() {
        true => tx.save_entity(id, home),
        false => Err(Error::conflict().whole("the entity is not waited for any more")),
    }
}

/// Looks whether the archive of an entity is read.
async fn follow_import(
    forge: &Forge,
    entity: &BulkImportEntity,
    import: &BulkImport,
    home: ArchiveHome,
) -> Result<EntityProgress, SourceError> {
    let found = forge.db.read(move |tx| tx.archive_import_of(home)).await?;
    let Some(found) = found else { return Ok(EntityProgress::Done(BulkStep::Fail)) };
    match found.status {
        ImportStatus::None | ImportStatus::Scheduled | ImportStatus::Started => {
            return Ok(EntityProgress::Wait);
        }
        ImportStatus::Finished => {}
        ImportStatus::Failed | ImportStatus::Canceled => {
            let text = found.error.unwrap_or_else(|| "the import was canceled".to_owned());
            return Err(SourceError::Own(Error::unprocessable().whole(text)));
        }
    }
    if let (Some(group), true) = (entity.namespace_id, entity.migrate_projects) {
        let at = forge.db.read(move |tx| Ok(tx.namespace(group)?.full_path)).await?;
        let projects = projects(forge, entity, import, &at).await?;
        let (own, of) = (entity.id, entity.bulk_import_id);
        let added = move |tx: &mut Tx<'_>| {
            projects.iter().try_for_each(|one| tx.insert_entity(of, Some(own), one))
        };
        forge.db.write(added).await?;
    }
    Ok(EntityProgress::Done(BulkStep::Finish))
}

/// The projects of a group and of those below it.
async fn projects(
    forge: &Forge,
    entity: &BulkImportEntity,
    import: &BulkImport,
    at: &str,
) -> Result<Vec<NewEntity>, SourceError> {
    let Some(source) = import.source(&forge.vault)? else { return Ok(Vec::new()) };
    let client = SourceClient::new(forge, Some(format!("Bearer {}", source.token)));
    let (base, mut all) = (address(&source, entity), Vec::new());
    for page in 1..=MOST_PAGES {
        let url = format!(
            "{base}/projects?include_subgroups=true&with_shared=false&per_page=100&page={page}"
        );
        let found = client.get(url).await?;
        let rows = found.body.as_array().map(Vec::as_slice).unwrap_or_default();
        all.extend(rows.iter().filter_map(|row| project(row, &entity.source_full_path, at)));
        if rows.len() < 100 {
            break;
        }
    }
    Ok(all)
}

fn project(row: &Value, from: &str, at: &str) -> Option<NewEntity> {
    let path = row["path_with_namespace"].as_str()?;
    let (folder, slug) = path.rsplit_once('/')?;
    let below = folder.strip_prefix(from)?;
    Some(NewEntity {
        kind: EntityKind::Project,
        source_full_path: path.to_owned(),
        destination_slug: slug.to_owned(),
        destination_namespace: format!("{at}{below}"),
        migrate_projects: false,
    })
}

#[cfg(test)]
mod tests {
    use kernel::Error;

    use super::{
        BulkStep, Duration, EntityProgress, FAILURE_LIMIT, NOT_JSON, NextStep, PAUSE, SourceError,
        next_step,
    };

    #[test]
    fn a_source_that_does_not_answer_is_given_up_after_four_attempts() {
        let (mut failures, mut waited) = (0, Duration::ZERO);
        let text = loop {
            match next_step(Err(SourceError::of_status(503)), failures, false) {
                NextStep::Later(now, pause) => (failures, waited) = (now, waited + pause),
                NextStep::Fail(text) => break text,
                NextStep::End(step) => panic!("{step}"),
            }
        };
        assert_eq!((text.as_str(), failures + 1), ("the source answered HTTP 503", FAILURE_LIMIT));
        assert_eq!(waited, Duration::seconds(70));
        let waits = next_step(Ok(EntityProgress::Wait), failures, false);
        assert_eq!(waits, NextStep::Later(0, PAUSE), "an answer begins the count anew");
    }

    #[test]
    fn an_answer_that_is_no_json_is_final_and_one_to_wait_is_no_failure() {
        let page = SourceError::malformed("the answer of the source");
        assert_eq!(next_step(Err(page), 0, false), NextStep::Fail(NOT_JSON.to_owned()));
        let busy = || Err(SourceError::RateLimited { seconds: 90 });
        assert_eq!(next_step(busy(), 3, false), NextStep::Later(3, Duration::seconds(90)));
        assert!(matches!(next_step(busy(), 3, true), NextStep::Fail(_)));
        let late = next_step(Ok(EntityProgress::Wait), 0, true);
        assert_eq!(late, NextStep::Fail("The source took too long.".to_owned()));
        let refused = SourceError::Own(Error::invalid("path", "is taken"));
        let told = "path is taken".to_owned();
        assert_eq!(next_step(Err(refused), 0, false), NextStep::Fail(told));
        let done = next_step(Ok(EntityProgress::Done(BulkStep::Finish)), 2, true);
        assert_eq!(done, NextStep::End(BulkStep::Finish));
    }
}
