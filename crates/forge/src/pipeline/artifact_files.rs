//! Files that jobs of a parent pipeline left behind, as parts of the configuration of its child. Reads objects, so it wants
//! a thread that may block.

use std::io::{self, ErrorKind, Read as _};

use ci::{
    artifact::{Artifact as Archive, ArtifactKind, ArtifactStore as _, zip},
    config::input::Artifact,
};
use kernel::{Error, Result, ids::PipelineId};

use crate::Forge;

/// Bytes of an archive, and of a file in it.
const SIZE_LIMIT: u64 = 5 << 20;

/// The text of a file in the archive of a job; `job` is the newest of its name.
pub(super) fn artifact_file(
    forge: &Forge,
    parent: PipelineId,
    job: &str,
    path: &str,
) -> Result<Artifact> {
    let archive = forge.db.read_blocking(|tx| {
        let Some(job) = tx.newest_named_job(parent, job)? else { return Ok(None) };
        let archive = tx.find_artifact(job.id, ArtifactKind::Archive)?;
        Ok(archive.filter(|archive| archive.is_there(tx.now)))
    });
    let Some(archive) = archive? else { return Ok(Artifact::NoJob) };
    if u64::try_from(archive.size).is_ok_and(|size| size > SIZE_LIMIT) {
        return Ok(Artifact::TooLarge);
    }
    match file(forge, &archive, path) {
        Ok(found) => Ok(found),
        Err(odd) if is_broken(&odd) => Ok(Artifact::NoFile),
        Err(failure) => Err(Error::internal(failure)),
    }
}

/// Whether it is no archive, or one that was cut off.
fn is_broken(odd: &io::Error) -> bool {
    use ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(odd.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

fn file(forge: &Forge, archive: &Archive, path: &str) -> io::Result<Artifact> {
    let size = u64::try_from(archive.size).unwrap_or_default();
    let mut reader = forge.artifacts.reader(&archive.location, size);
    let Some(entry) = zip::find(&mut reader, path.as_bytes())? else {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let is_folder = zip::has_below(&mut reader, folder.as_bytes())?;
        return Ok(if is_folder { Artifact::Folder } else { Artifact::NoFile });
    };
    if entry.size > SIZE_LIMIT {
        return Ok(Artifact::TooLarge);
    }
    let mut bytes = Vec::new();
    zip::open(reader, &entry, 0)?.read_to_end(&mut bytes)?;
    Ok(Artifact::Text(String::from_utf8_lossy(&bytes).into_owned()))
}
