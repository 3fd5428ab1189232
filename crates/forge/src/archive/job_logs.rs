//! Logs of jobs on their way into an archive and out of one.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufWriter, Read as _},
    path::Path,
};

use admin::archive::ArchiveImport;
use ci::{
    job::{Job, JobListStore as _},
    job_files::{JobFileStore as _, JobFiles},
    log::{JobLog, LogKey, LogStore as _},
};
use kernel::{
    Error, Result,
    ids::{JobId, ProjectId},
    task::spawn_blocking,
};
use serde::{Deserialize, Serialize};

use super::{
    failure::ArchiveError,
    job_files::{JobPages, jobs_here, length_of},
    layout::{self, MOST_JOB_FILES},
    lines::{self, Lines},
    pack::Packer,
    progress::{lines_done, save_page},
    rows::PAGE,
};
use crate::{
    Forge,
    runner::logs::{close, log_place},
};

/// The log of a job that has ended, as people see it: what was hidden in it is hidden.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LogLine {
    job_id: i64,
    /// Bytes, where that is known of the job.
    size: Option<u64>,
    /// Whether only developers may see it.
    restricted: bool,
}

/// Adds the logs of a project, which take half the room that there is: the rest is for artifacts.
pub(super) async fn write(forge: &Forge, packer: &mut Packer, project: ProjectId) -> Result<()> {
    let mut list = BufWriter::new(packer.draft()?);
    let room = packer.room() / 2;
    let mut pages = JobPages::within(forge, project, JobFiles::Logs, room).await?;
    while let Some(ids) = pages.next(forge).await? {
        for (log, place) in logs(forge, ids).await? {
            let (file, length) = copy(forge, place, packer.draft()?).await?;
            if !packer.has_room_for(length) {
                continue;
            }
            packer.file(&layout::job_log(log.job_id.0), file).await?;
            let size = log.size.map(|_| length);
            let line = LogLine { job_id: log.job_id.0, size, restricted: log.restricted };
            lines::write(&mut list, &line)?;
        }
    }
    packer.file(layout::JOB_LOGS, lines::finish(list)?).await
}

/// Logs of jobs that have ended, the oldest job first. What nobody has closed yet is closed.
async fn logs(forge: &Forge, ids: Vec<JobId>) -> Result<Vec<(JobLog, LogKey)>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let jobs = forge.db.read(move |tx| tx.jobs_by_id(&numbers)).await?;
    for job in &jobs {
        close(forge, job).await?;
    }
    let places: HashMap<JobId, LogKey> = jobs.iter().map(|job| (job.id, log_place(job))).collect();
    let mut all = forge.db.read(move |tx| tx.logs_of(&ids)).await?;
    all.sort_by_key(|log| log.job_id);
    let placed = |log: JobLog| {
        let place = *places.get(&log.job_id)?;
        Some((log, place))
    };
    Ok(all.into_iter().filter_map(placed).collect())
}

/// Copies as much of a log as can be shown, with its length. One that nothing was written to has no file.
async fn copy(forge: &Forge, place: LogKey, mut into: File) -> Result<(File, u64)> {
    let own = forge.clone();
    let copied = spawn_blocking(move || {
        let shown = own.logs.shown(place);
        let length = match File::open(own.logs.path(place)) {
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => 0,
            file => io::copy(&mut file?.take(shown), &mut into)?,
        };
        Ok::<_, io::Error>((into, length))
    });
    copied.await.map_err(Error::internal)?.map_err(Error::internal)
}

/// Looks whether the logs that an archive says it has are there, each once. Blocks.
pub(super) fn check(folder: &Path) -> Result<(), ArchiveError> {
    check_within(folder, MOST_JOB_FILES)
}

fn check_within(folder: &Path, most: usize) -> Result<(), ArchiveError> {
    let (mut lines, mut jobs) = (Lines::open(folder, layout::JOB_LOGS)?, HashSet::new());
    while let Some(line) = lines.next::<LogLine>()? {
        if !jobs.insert(line.job_id) {
            return Err(ArchiveError::flawed("The archive has two logs of one job."));
        }
        if jobs.len() > most {
            return Err(ArchiveError::flawed("The archive has too many logs."));
        }
        let length = length_of(folder, &layout::job_log(line.job_id))?;
        if line.size.is_some_and(|size| size != length) {
            return Err(ArchiveError::flawed(
                "The archive has a log of another size than it says.",
            ));
        }
    }
    Ok(())
}

/// Keeps the logs of an archive that are not kept yet, the files of a page before its rows: done again, it writes the
/// same ones. Returns the import as it is then.
pub(super) async fn land(
    forge: &Forge,
    import: ArchiveImport,
    place: i64,
    folder: &Path,
) -> Result<ArchiveImport, ArchiveError> {
    let mut seen = import;
    let mut line = lines_done(&seen, place);
    let mut lines = Lines::open_behind(folder, layout::JOB_LOGS, line).await?;
    loop {
        let (rest, page): (_, Vec<LogLine>) = lines.next_page(PAGE).await?;
        lines = rest;
        if page.is_empty() {
            return Ok(seen);
        }
        line += i64::try_from(page.len()).unwrap_or_default();
        let sources: Vec<i64> = page.iter().map(|one| one.job_id).collect();
        let own = seen.clone();
        let jobs = forge.db.read(move |tx| jobs_here(tx, &own, &sources)).await?;
        let kept = keep(forge, folder, page, &jobs).await?;
        let write = move |tx: &mut db::Tx<'_>| tx.insert_logs(&kept).map_err(ArchiveError::from);
        seen = save_page(forge, seen, place, line, write).await?;
    }
}

/// Keeps the files of some logs, all of which are on the disk from then on; those of jobs that are not here are left out.
async fn keep(
    forge: &Forge,
    folder: &Path,
    page: Vec<LogLine>,
    jobs: &HashMap<i64, Job>,
) -> Result<Vec<JobLog>, ArchiveError> {
    let placed = |line: LogLine| {
        let place = log_place(jobs.get(&line.job_id)?);
        Some((line, place))
    };
    let placed: Vec<(LogLine, LogKey)> = page.into_iter().filter_map(placed).collect();
    let (own, folder) = (forge.clone(), folder.to_owned());
    let kept = spawn_blocking(move || {
        let (mut logs, mut places) = (Vec::with_capacity(placed.len()), Vec::new());
        for (line, place) in placed {
            let file = File::open(folder.join(layout::job_log(line.job_id)))?;
            let length = i64::try_from(own.logs.keep(place, file)?).unwrap_or(i64::MAX);
            let (size, restricted) = (line.size.map(|_| length), line.restricted);
            logs.push(JobLog { job_id: place.job, size, restricted, hidden: None });
            places.push(place);
        }
        own.logs.sync_folders(&places)?;
        Ok::<_, ArchiveError>(logs)
    });
    kept.await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{check_within, layout};

    #[test]
    fn an_archive_has_only_so_many_logs() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tree/project", "job-logs"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut lines = String::new();
        for job in 1..3 {
            fs::write(folder.path().join(layout::job_log(job)), "log").unwrap();
            lines.push_str(&format!("{{\"job_id\":{job},\"size\":3,\"restricted\":false}}\n"));
        }
        fs::write(folder.path().join(layout::JOB_LOGS), lines).unwrap();
        let told = |most| check_within(folder.path(), most).map_err(|flaw| flaw.to_string());
        assert_eq!(told(2), Ok(()));
        assert_eq!(told(1), Err("The archive has too many logs.".to_owned()));
    }
}
