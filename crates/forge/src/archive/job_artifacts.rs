//! Artifacts of jobs on their way into an archive and out of one.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs::File,
    io::BufWriter,
    path::Path,
};

use admin::archive::ArchiveImport;
use ci::{
    artifact::{
        Access, Artifact, ArtifactFormat, ArtifactKind, ArtifactStore as _, NewArtifact, access,
        plain_filename,
    },
    config::options::Options,
    job::{Job, JobListStore as _, JobSpec, SpecStore as _},
    job_files::{ArtifactCopy, JobFileStore as _, JobFiles},
    report::{TestSuite, TestSuiteStore as _, suite_name},
};
use db::Tx;
use kernel::{
    Error, Result, Ts,
    error::Kind,
    ids::{JobId, JobSpecId, ProjectId},
};
use objects::StoredContent;
use org::project::Settings;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    failure::ArchiveError,
    files::copy_into,
    job_files::{JobPages, jobs_here, length_of},
    layout::{self, MOST_JOB_FILES},
    lines::{self, Lines},
    pack::Packer,
    progress::{lines_done, save_page},
    rows::PAGE,
};
use crate::{
    Forge,
    runner::{
        artifacts::{LIST_NAME, keep_list, keeps_latest, location},
        reports::keep_tests,
    },
};

/// An artifact that was there when the archive was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ArtifactLine {
    id: i64,
    job_id: i64,
    file_type: ArtifactKind,
    file_format: ArtifactFormat,
    filename: String,
    /// Bytes.
    size: u64,
    #[serde(default, deserialize_with = "optional_moment")]
    expires_at: Option<Ts>,
    /// Whether it stays beyond that, since its pipeline is the newest of its ref that succeeded.
    locked: bool,
    #[serde(deserialize_with = "moment")]
    created_at: Ts,
}

fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Ts, D::Error> {
    parsed(&String::deserialize(from)?)
}

fn optional_moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Ts>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| parsed(&text)).transpose()
}

fn parsed<E: serde::de::Error>(text: &str) -> Result<Ts, E> {
    Ts::parse(text).ok_or_else(|| E::custom("not a moment"))
}

/// Whether archives hold artifacts of a type. The list of what is in an archive is made again; what variables are worth
/// is secret.
fn is_held(kind: ArtifactKind) -> bool {
    !matches!(kind, ArtifactKind::Metadata | ArtifactKind::Dotenv)
}

/// Adds the artifacts of a project that are still there, that somebody may have, and for which there is room.
pub(super) async fn write(forge: &Forge, packer: &mut Packer, project: ProjectId) -> Result<()> {
    let mut list = BufWriter::new(packer.draft()?);
    let room = packer.room();
    let mut pages = JobPages::within(forge, project, JobFiles::Artifacts, room).await?;
    while let Some(ids) = pages.next(forge).await? {
        for artifact in forge.db.read(move |tx| artifacts(tx, &ids)).await? {
            if let Some(size) = add_content(forge, packer, &artifact).await? {
                lines::write(&mut list, &line_of(artifact, size))?;
            }
        }
    }
    packer.file(layout::JOB_ARTIFACTS, lines::finish(list)?).await
}

fn artifacts(tx: &mut Tx<'_>, jobs: &[JobId]) -> Result<Vec<Artifact>> {
    let numbers: Vec<i64> = jobs.iter().map(|id| id.0).collect();
    let owners = tx.jobs_by_id(&numbers)?;
    let specs = specs_of(tx, owners.iter())?;
    let closed = owners.iter().filter(|job| {
        let spec = job.spec_id.and_then(|id| specs.get(&id));
        spec.is_some_and(|spec| access(spec.options.artifacts.as_ref()) == Access::Nobody)
    });
    let closed: HashSet<JobId> = closed.map(|job| job.id).collect();
    let (mut all, now) = (tx.artifacts_of(jobs)?, tx.now);
    all.retain(|one| one.is_there(now) && is_held(one.file_type) && !closed.contains(&one.job_id));
    Ok(all)
}

fn specs_of<'j>(
    tx: &mut Tx<'_>,
    jobs: impl Iterator<Item = &'j Job>,
) -> Result<HashMap<JobSpecId, JobSpec>> {
    let ids: BTreeSet<JobSpecId> = jobs.filter_map(|job| job.spec_id).collect();
    tx.specs(&Vec::from_iter(ids))
}

/// Adds the content of an artifact; returns its size, or nothing where it has gone meanwhile or does not fit.
async fn add_content(
    forge: &Forge,
    packer: &mut Packer,
    artifact: &Artifact,
) -> Result<Option<u64>> {
    let content = match forge.artifacts.read(&artifact.location).await {
        Err(gone) if gone.is_plain(Kind::NotFound) => return Ok(None),
        read => read?.1,
    };
    let file = copy_into(packer.draft()?, content).await?;
    let size = file.metadata().map_err(Error::internal)?.len();
    if !packer.has_room_for(size) {
        return Ok(None);
    }
    packer.file(&layout::job_artifact(artifact.id), file).await?;
    Ok(Some(size))
}

fn line_of(artifact: Artifact, size: u64) -> ArtifactLine {
    ArtifactLine {
        id: artifact.id,
        job_id: artifact.job_id.0,
        file_type: artifact.file_type,
        file_format: artifact.file_format,
        filename: artifact.filename,
        size,
        expires_at: artifact.expires_at,
        locked: artifact.locked,
        created_at: artifact.created_at,
    }
}

/// Looks whether the artifacts that an archive says it has are there, each once, as runners could have brought them.
/// Blocks.
pub(super) fn check(folder: &Path) -> Result<(), ArchiveError> {
    check_within(folder, MOST_JOB_FILES)
}

fn check_within(folder: &Path, most: usize) -> Result<(), ArchiveError> {
    let mut lines = Lines::open(folder, layout::JOB_ARTIFACTS)?;
    let (mut ids, mut kinds) = (HashSet::new(), HashSet::new());
    while let Some(line) = lines.next::<ArtifactLine>()? {
        // A content that many rows name would be kept once for each of them.
        if !ids.insert(line.id) || !kinds.insert((line.job_id, line.file_type)) {
            return Err(ArchiveError::flawed("The archive has an artifact twice."));
        }
        if ids.len() > most {
            return Err(ArchiveError::flawed("The archive has too many artifacts."));
        }
        ensure_sound(folder, &line)?;
    }
    Ok(())
}

fn ensure_sound(folder: &Path, line: &ArtifactLine) -> Result<(), ArchiveError> {
    let flaw = if !is_held(line.file_type) || line.file_format != line.file_type.format() {
        "The archive has an artifact of a type or format that artifacts do not have there."
    } else if plain_filename(&line.filename).as_ref() != Some(&line.filename) {
        "The archive has an artifact without a usable name."
    } else if length_of(folder, &layout::job_artifact(line.id))? != line.size {
        "The archive has an artifact of another size than it says."
    } else {
        return Ok(());
    };
    Err(ArchiveError::flawed(flaw))
}

/// The jobs of some artifacts, and what decides about their rows.
struct ArtifactPage {
    jobs: HashMap<i64, Job>,
    specs: HashMap<JobSpecId, JobSpec>,
    /// Whether artifacts stay here as the newest of their ref.
    keeps_latest: bool,
    now: Ts,
}

/// The rows of artifacts whose contents are kept.
#[derive(Clone, Default)]
struct ArtifactRows {
    copies: Vec<ArtifactCopy>,
    suites: Vec<TestSuite>,
}

/// Keeps the artifacts of an archive that are not kept yet, the contents of a page before its rows. Done again, it writes
/// the same contents under the same names. `settings` are those that the project gets. Returns the import as it is then.
pub(super) async fn land(
    forge: &Forge,
    import: ArchiveImport,
    place: i64,
    folder: &Path,
    settings: &Settings,
) -> Result<ArchiveImport, ArchiveError> {
    let mut seen = import;
    let mut line = lines_done(&seen, place);
    let mut lines = Lines::open_behind(folder, layout::JOB_ARTIFACTS, line).await?;
    loop {
        let (rest, all): (_, Vec<ArtifactLine>) = lines.next_page(PAGE).await?;
        lines = rest;
        if all.is_empty() {
            return Ok(seen);
        }
        line += i64::try_from(all.len()).unwrap_or_default();
        let (own, sources) = (seen.clone(), all.iter().map(|one| one.job_id).collect::<Vec<_>>());
        let wanted = settings.keep_latest_artifact;
        let page = forge.db.read(move |tx| page_of(tx, &own, &sources, wanted)).await?;
        let mut rows = ArtifactRows::default();
        for one in &all {
            keep(forge, folder, &seen, one, &page, &mut rows).await?;
        }
        let write = move |tx: &mut Tx<'_>| {
            tx.insert_artifact_copies(&rows.copies)?;
            tx.save_test_suites(&rows.suites).map_err(ArchiveError::from)
        };
        seen = save_page(forge, seen, place, line, write).await?;
    }
}

fn page_of(
    tx: &mut Tx<'_>,
    import: &ArchiveImport,
    sources: &[i64],
    is_latest_wanted: bool,
) -> Result<ArtifactPage> {
    let jobs = jobs_here(tx, import, sources)?;
    let specs = specs_of(tx, jobs.values())?;
    let keeps_latest = keeps_latest(tx, is_latest_wanted)?;
    Ok(ArtifactPage { jobs, specs, keeps_latest, now: tx.now })
}

/// Keeps the content of an artifact with what is made of it, as where a runner brings it: the list of what is in an
/// archive, and the tests of a report, whose numbers are of this content too. One of a job that is not here is left out, and
/// so is one that has expired meanwhile.
async fn keep(
    forge: &Forge,
    folder: &Path,
    import: &ArchiveImport,
    line: &ArtifactLine,
    page: &ArtifactPage,
    rows: &mut ArtifactRows,
) -> Result<(), ArchiveError> {
    let Some(job) = page.jobs.get(&line.job_id) else { return Ok(()) };
    let locked = line.locked && page.keeps_latest;
    if !locked && line.expires_at.is_some_and(|at| at <= page.now) {
        return Ok(());
    }
    let own = own_name(import, line.id);
    let place = location(job, line.file_type, &own);
    let file = File::open(folder.join(layout::job_artifact(line.id)))?;
    let kept = forge.artifacts.keep_file(&place, file).await?;
    let copy = |kind, filename: &str, location: String, kept: &StoredContent| ArtifactCopy {
        job_id: job.id,
        project_id: job.project_id,
        pipeline_id: job.pipeline_id,
        artifact: NewArtifact {
            kind,
            filename: filename.to_owned(),
            size: i64::try_from(kept.size).unwrap_or(i64::MAX),
            sha256: kept.sha256.clone(),
            location,
            expires_at: line.expires_at,
        },
        locked,
        created_at: line.created_at,
    };
    rows.copies.push(copy(line.file_type, &line.filename, place.clone(), &kept));
    if line.file_type == ArtifactKind::Archive {
        let list_place = location(job, ArtifactKind::Metadata, &own);
        let list = keep_list(forge, &place, kept.size, &list_place).await?;
        let list = list.map(|kept| copy(ArtifactKind::Metadata, LIST_NAME, list_place, &kept));
        rows.copies.extend(list);
    }
    if line.file_type == ArtifactKind::Junit {
        let (spec, none) = (job.spec_id.and_then(|id| page.specs.get(&id)), Options::default());
        let name = suite_name(&job.name, spec.map_or(&none, |spec| &spec.options));
        rows.suites.push(keep_tests(forge, job, name, &place, &kept).await?);
    }
    Ok(())
}

/// The part of a content's name that is its own: the same one each time.
fn own_name(import: &ArchiveImport, artifact: i64) -> String {
    let digest = Sha256::digest(format!("{}/{}/{artifact}", import.correlation_id, import.id));
    hex::encode(digest).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{check_within, layout};

    #[test]
    fn an_archive_has_only_so_many_artifacts() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tree/project", "job-artifacts"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut lines = String::new();
        for id in 1..3 {
            fs::write(folder.path().join(layout::job_artifact(id)), "zip").unwrap();
            let line = json!({ "id": id, "job_id": id, "file_type": "archive", "file_format": "zip",
                               "filename": "out.zip", "size": 3, "locked": false,
                               "created_at": "2026-11-30T00:00:00Z" });
            lines.push_str(&format!("{line}\n"));
        }
        fs::write(folder.path().join(layout::JOB_ARTIFACTS), lines).unwrap();
        let told = |most| check_within(folder.path(), most).map_err(|flaw| flaw.to_string());
        assert_eq!(told(2), Ok(()));
        assert_eq!(told(1), Err("The archive has too many artifacts.".to_owned()));
    }
}
