//! Files that jobs leave behind, on their way in and out.

use ci::{
    Status,
    artifact::{
        Access, Artifact, ArtifactKind, ArtifactStore as _, NewArtifact, access, expiry,
        write_metadata,
    },
    job::{Job, JobSpec, JobStore as _, SpecStore as _},
};
use db::Tx;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Error, Result, Standing, Ts,
    ids::{JobId, ProjectId},
    task::spawn_blocking,
};
use objects::{Incoming, StoredContent};
use org::settings::store::SettingsStore as _;
use serde::{Deserialize, Serialize};
use worker::Job as Work;

use super::{
    archived_files::is_broken,
    reports::{self, ReportResult, cases_location},
};
use crate::Forge;

/// So many artifacts go in one transaction.
const AT_ONCE: i64 = 500;
pub(super) const MEGABYTE: u64 = 1 << 20;
/// The name of the list of what is in an archive.
pub(crate) const LIST_NAME: &str = "metadata.gz";

/// An artifact that is brought.
#[derive(Clone, Debug)]
pub struct ArtifactUpload {
    pub kind: ArtifactKind,
    pub filename: String,
    /// In words, when it is to go.
    pub expire_in: Option<String>,
}

/// An artifact that arrives, and where it will lie.
pub struct IncomingArtifact {
    pub incoming: Incoming,
    location: String,
}

/// The result of an artifact upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Kept,
    /// There is another one of its kind.
    Taken,
    /// It is no report of its kind, in words for whoever brought it.
    Refused(String),
}

/// Bytes that an artifact of this kind may have.
pub async fn size_limit(forge: &Forge, kind: ArtifactKind) -> Result<u64> {
    let settings = forge.db.peek(|tx| tx.settings()).await?;
    let own = match kind {
        ArtifactKind::Lsif => settings.plan_limits.ci_max_artifact_size_lsif,
        _ => 0,
    };
    let megabytes = if own > 0 { own } else { settings.max_artifacts_size };
    Ok(u64::try_from(megabytes).unwrap_or_default().saturating_mul(MEGABYTE))
}

/// Begins to keep an artifact of a job.
pub async fn begin(forge: &Forge, job: &Job, kind: ArtifactKind) -> Result<IncomingArtifact> {
    let location = new_location(job, kind);
    Ok(IncomingArtifact { incoming: forge.artifacts.begin(&location)?, location })
}

fn new_location(job: &Job, kind: ArtifactKind) -> String {
    location(job, kind, &hex::encode(rand::random::<[u8; 8]>()))
}

/// Where an artifact of a job lies. `own` is of this one alone.
pub(crate) fn location(job: &Job, kind: ArtifactKind, own: &str) -> String {
    format!("{}/{}/{}/{kind}-{own}", job.project_id, job.pipeline_id, job.id)
}

/// Keeps an artifact that has arrived: first its content is safe, then there is a row. An archive gets a list of what is
/// in it, and reports are read.
pub async fn keep(
    forge: &Forge,
    job: &Job,
    brought: ArtifactUpload,
    arrived: IncomingArtifact,
) -> Result<Outcome> {
    let IncomingArtifact { incoming, location } = arrived;
    let kept = incoming.finish().await?;
    let reading = reports::read(forge, job, brought.kind, &location, &kept).await;
    let Ok(ReportResult::Done(report)) = reading else {
        remove_all(forge, contents(brought.kind, &location)).await?;
        return reading.map(|reading| match reading {
            ReportResult::Refused(sentence) => Outcome::Refused(sentence),
            ReportResult::Done(_) => Outcome::Kept,
        });
    };
    let list = match brought.kind {
        ArtifactKind::Archive => {
            let place = new_location(job, ArtifactKind::Metadata);
            let list = keep_list(forge, &location, kept.size, &place).await?;
            list.map(|list| (place, list))
        }
        _ => None,
    };
    let mut locations = contents(brought.kind, &location);
    locations.extend(list.iter().map(|(location, _)| location.clone()));
    let (id, vault) = (job.id, forge.vault.clone());
    let done = forge.db.write(move |tx| {
        let unsaid = tx.settings()?.default_artifacts_expire_in;
        let expires_at = expiry(brought.expire_in.as_deref(), &unsaid, tx.now);
        let new = |kind, filename: &str, location: &str, kept: &StoredContent| NewArtifact {
            kind,
            filename: filename.to_owned(),
            size: i64::try_from(kept.size).unwrap_or(i64::MAX),
            sha256: kept.sha256.clone(),
            location: location.to_owned(),
            expires_at,
        };
        let mut all = vec![new(brought.kind, &brought.filename, &location, &kept)];
        if let Some((location, kept)) = &list {
            all.push(new(ArtifactKind::Metadata, LIST_NAME, location, kept));
        }
        let insertion = insert(tx, id, &all)?;
        if let (Insertion::Done, Some(report)) = (insertion, &report) {
            reports::insert(tx, &vault, id, report)?;
        }
        Ok(insertion)
    });
    let outcome = done.await;
    if !matches!(outcome, Ok(Insertion::Done)) {
        remove_all(forge, locations).await?;
    }
    Ok(match outcome? {
        Insertion::Done | Insertion::Same => Outcome::Kept,
        Insertion::Other => Outcome::Taken,
    })
}

/// The names of all contents that belong to an artifact.
pub(super) fn contents(kind: ArtifactKind, location: &str) -> Vec<String> {
    let own = location.to_owned();
    match kind {
        ArtifactKind::Junit => vec![cases_location(location), own],
        _ => vec![own],
    }
}

#[derive(Clone, Copy)]
enum Insertion {
    Done,
    /// It is there already.
    Same,
    /// There is another one of its kind.
    Other,
}

fn insert(tx: &mut Tx<'_>, id: JobId, all: &[NewArtifact]) -> Result<Insertion> {
    let job = tx.job(id)?;
    // It may have ended while this arrived.
    if job.status != Status::Running {
        return Err(Error::forbidden());
    }
    for new in all {
        match tx.find_artifact(id, new.kind)? {
            Some(known) if known.sha256 == new.sha256 => return Ok(Insertion::Same),
            Some(_) => return Ok(Insertion::Other),
            None => {
                tx.insert_artifact(&job, new)?;
            }
        }
    }
    Ok(Insertion::Done)
}

/// Keeps the list of what is in an archive that is kept; none where it is no archive.
pub(crate) async fn keep_list(
    forge: &Forge,
    archive: &str,
    size: u64,
    location: &str,
) -> Result<Option<StoredContent>> {
    let mut reader = forge.artifacts.reader(archive, size);
    let made = spawn_blocking(move || {
        let mut list = tempfile::tempfile()?;
        write_metadata(&mut reader, &mut list)?;
        std::io::Seek::rewind(&mut list)?;
        Ok::<_, std::io::Error>(list)
    });
    let list = match made.await.map_err(Error::internal)? {
        Ok(list) => list,
        Err(odd) if is_broken(&odd) => return Ok(None),
        Err(failure) => return Err(Error::internal(failure)),
    };
    forge.artifacts.keep_file(location, list).await.map(Some)
}

/// The archive of a job, where it is still there and the caller may have it.
///
/// # Errors
/// `NotFound` where there is none, `Forbidden` where it is not for them.
pub fn archive(tx: &mut Tx<'_>, who: Option<&Standing>, job: &Job) -> Result<Artifact> {
    if let Some(who) = who {
        ensure_access(tx, who, job)?;
    }
    let found = tx.find_artifact(job.id, ArtifactKind::Archive)?;
    found.filter(|found| found.is_there(tx.now)).ok_or_else(Error::hidden)
}

fn ensure_access(tx: &mut Tx<'_>, who: &Standing, job: &Job) -> Result<()> {
    let spec = match job.spec_id {
        Some(spec) => tx.spec(spec)?,
        None => return Ok(()),
    };
    if lets_in(who, &spec) { Ok(()) } else { Err(Error::forbidden()) }
}

/// Whether somebody who sees a job of this spec may have its artifacts.
pub fn lets_in(who: &Standing, spec: &JobSpec) -> bool {
    match access(spec.options.artifacts.as_ref()) {
        Access::All => true,
        Access::Developers => who.is(Developer),
        Access::Maintainers => who.is(Maintainer),
        Access::Nobody => false,
    }
}

/// Removes artifacts whose rows are gone.
async fn remove_contents(forge: &Forge, gone: &[Artifact]) -> Result<()> {
    for artifact in gone {
        remove_all(forge, contents(artifact.file_type, &artifact.location)).await?;
    }
    Ok(())
}

async fn remove_all(forge: &Forge, locations: Vec<String>) -> Result<()> {
    for location in locations {
        forge.artifacts.remove(&location).await?;
    }
    Ok(())
}

/// Removes the artifacts of a job.
pub async fn remove_of_job(forge: &Forge, job: JobId) -> Result<()> {
    let gone = forge.db.write(move |tx| tx.delete_artifacts(job)).await?;
    remove_contents(forge, &gone).await
}

/// Whether artifacts stay as the newest of their ref in a project that wants that, or does not: the installation must want
/// it, too.
pub(crate) fn keeps_latest(tx: &mut Tx<'_>, is_wanted: bool) -> Result<bool> {
    Ok(is_wanted && tx.settings()?.keep_latest_artifact)
}

/// Lets all artifacts of a project go, but for those that are kept as the newest of their ref.
pub fn expire_all(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    tx.expire_artifacts(project)
}

/// Removes what has expired.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoveArtifacts {}

impl Work for RemoveArtifacts {
    const KIND: &'static str = "artifact.remove_expired";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(crate) async fn remove_expired(forge: Forge, _: RemoveArtifacts) -> Result<()> {
    loop {
        let gone = forge.db.write(|tx| tx.delete_expired(AT_ONCE)).await?;
        if gone.is_empty() {
            return Ok(());
        }
        remove_contents(&forge, &gone).await?;
    }
}

/// When the artifacts of a job go; `None` where they stay or there are none.
pub fn expires_at(artifacts: &[Artifact]) -> Option<Ts> {
    artifacts.iter().filter_map(|artifact| artifact.expires_at).min()
}
