//! Artifacts of a job: found, packed and uploaded.

use std::{collections::BTreeSet, fs::File, io::Write as _};

use flate2::{Compression, GzBuilder};

use super::{Failure, Job, cache::fits};
use crate::{
    api::{JobCall, Upload, UploadResult, payload::Artifact},
    files::{
        archive::pack,
        glob::Pattern,
        paths::open_file,
        walk::{FileKinds, Kind, Selection},
    },
    trace::{ERROR, NOTICE, WARNING},
};

const ATTEMPTS: usize = 3;
/// When the server says that it is busy.
const BUSY_ATTEMPTS: usize = 6;

/// Brings all artifacts that are wanted after a success or a failure.
pub(super) fn upload(
    job: &Job,
    tracked: &BTreeSet<String>,
    is_success: bool,
) -> Result<(), Failure> {
    for artifact in artifacts_to_upload(job, is_success) {
        upload_one(job, artifact, tracked)?;
    }
    Ok(())
}

pub(super) fn artifacts_to_upload(job: &Job, is_success: bool) -> impl Iterator<Item = &Artifact> {
    job.payload.artifacts.iter().filter(move |artifact| fits(&artifact.when, is_success))
}

fn upload_one(job: &Job, artifact: &Artifact, tracked: &BTreeSet<String>) -> Result<(), Failure> {
    let found = select(job, &artifact.paths, &artifact.exclude, artifact.untracked, tracked)?;
    let files = found.values().filter(|kind| **kind != Kind::Folder).count();
    if found.is_empty() || (artifact.artifact_format != "zip" && files == 0) {
        job.trace.styled(ERROR, "ERROR: No files to upload");
        return Ok(());
    }
    let format =
        if artifact.artifact_format.is_empty() { "zip" } else { &artifact.artifact_format };
    let kind = if artifact.artifact_type.is_empty() { "archive" } else { &artifact.artifact_type };
    let mut content = match format {
        "zip" => zipped(job, &found)?,
        "gzip" => gzipped(job, &found)?,
        "raw" => raw(job, &found)?,
        odd => return Err(Failure::Configuration(format!("unknown artifact format {odd:?}"))),
    };
    let name = job.variables.expand(&artifact.name);
    let filename = filename(&name, format);
    let expire_in = job.variables.expand(&artifact.expire_in);
    let upload =
        Upload { kind, format, expire_in: &expire_in, filename: &filename, content: &mut content };
    job.trace.styled(NOTICE, &format!("Uploading artifacts as \"{kind}\" to coordinator..."));
    send(job, upload)
}

fn filename(name: &str, format: &str) -> String {
    let name = if name.is_empty() { "artifacts" } else { name };
    match format {
        "zip" if !name.ends_with(".zip") => format!("{name}.zip"),
        "gzip" => format!("{name}.gz"),
        _ => name.to_owned(),
    }
}

fn send(job: &Job, mut upload: Upload<'_>) -> Result<(), Failure> {
    let call = JobCall { client: &job.client, id: job.payload.id, token: &job.payload.token };
    let (mut origin, mut wait) = (None::<String>, job.retry);
    let mut failed = 0;
    for _attempt in 0..ATTEMPTS + BUSY_ATTEMPTS {
        let (is_busy, message) = match call.upload(&mut upload, origin.as_deref()) {
            Ok(UploadResult::Done) => {
                job.trace.line(&format!(
                    "Uploading artifacts as \"{}\" to coordinator... ok",
                    upload.kind
                ));
                return Ok(());
            }
            Ok(UploadResult::Refused(message)) => {
                return Err(Failure::Result(format!("artifacts were not taken: {message}")));
            }
            Ok(UploadResult::Elsewhere(location)) => {
                origin = Some(location);
                (false, "the server redirects too often".to_owned())
            }
            Ok(UploadResult::Unwell { is_busy, message }) => (is_busy, message),
            Err(error) => (false, format!("{error:#}")),
        };
        failed += 1;
        if failed >= if is_busy { BUSY_ATTEMPTS } else { ATTEMPTS } {
            return Err(Failure::System(anyhow::anyhow!("artifacts were not taken: {message}")));
        }
        job.trace.styled(WARNING, &format!("Uploading artifacts failed, retrying: {message}"));
        job.control.pause(wait);
        wait *= 2;
    }
    Err(Failure::System(anyhow::anyhow!("artifacts were not taken")))
}

/// The files of the project that paths mean, with those that git does not know.
pub(super) fn select(
    job: &Job,
    paths: &[String],
    exclude: &[String],
    untracked: bool,
    tracked: &BTreeSet<String>,
) -> anyhow::Result<FileKinds> {
    let exclude: Vec<Pattern> = exclude.iter().flat_map(|path| patterns(job, path)).collect();
    let mut all = FileKinds::new();
    for path in paths {
        let selection = Selection { paths: patterns(job, path), exclude: exclude.clone() };
        if selection.paths.is_empty() {
            continue;
        }
        let found = selection.find(&job.layout.project)?;
        match found.len() {
            0 => job.trace.styled(
                WARNING,
                &format!("WARNING: {path}: no matching files. Ensure that the artifact path is relative to the working directory"),
            ),
            count => job.trace.line(&format!("{path}: found {count} matching artifact files and directories")),
        }
        all.extend(found);
    }
    if untracked {
        let selection = Selection { paths: Pattern::parse(".")?, exclude };
        let mut found = selection.find(&job.layout.project)?;
        found.retain(|path, kind| *kind != Kind::Folder && !is_tracked(path, tracked));
        job.trace.line(&format!("untracked: found {} files", found.len()));
        all.extend(found);
    }
    Ok(all)
}

/// A submodule is tracked as a whole, by the path of its folder.
fn is_tracked(path: &str, tracked: &BTreeSet<String>) -> bool {
    let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    above.chain([path]).any(|path| tracked.contains(path))
}

/// The patterns of one path; none, with a word in the log, where it is none within the project.
fn patterns(job: &Job, path: &str) -> Vec<Pattern> {
    let expanded = job.variables.expand(path);
    let project = job.layout.seen_project.to_string_lossy();
    let within = match expanded.strip_prefix(&*project) {
        Some("") => ".",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => &expanded,
    };
    if within.is_empty() {
        return Vec::new();
    }
    Pattern::parse(within).unwrap_or_else(|error| {
        job.trace.styled(WARNING, &format!("WARNING: {path} is ignored: {error}"));
        Vec::new()
    })
}

fn zipped(job: &Job, found: &FileKinds) -> Result<File, Failure> {
    let mut file = tempfile::tempfile()?;
    for path in pack(&job.layout.project, found, &mut file)? {
        job.trace.styled(
            WARNING,
            &format!("WARNING: {path} is left out: it leads out of the project or cannot be read"),
        );
    }
    Ok(file)
}

/// One gzip member for each file, in order.
fn gzipped(job: &Job, found: &FileKinds) -> Result<File, Failure> {
    let mut file = tempfile::tempfile()?;
    for path in found.iter().filter(|(_, kind)| **kind == Kind::File).map(|(path, _)| path) {
        let mut content = open_file(&job.layout.project.join(path))?;
        let name = path.rsplit('/').next().unwrap_or(path).replace('\0', "");
        let mut packed = GzBuilder::new().filename(name).write(&mut file, Compression::default());
        std::io::copy(&mut content, &mut packed)?;
        packed.finish()?.flush()?;
    }
    Ok(file)
}

fn raw(job: &Job, found: &FileKinds) -> Result<File, Failure> {
    let mut files = found.iter().filter(|(_, kind)| **kind == Kind::File);
    match (files.next(), files.next()) {
        (Some((path, _)), None) => Ok(open_file(&job.layout.project.join(path))?),
        _ => Err(Failure::Result("only one file can be sent as it is".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_submodule_are_tracked() {
        let tracked = BTreeSet::from(["src/a".to_owned(), "vendor/lib".to_owned()]);
        assert!(is_tracked("src/a", &tracked) && is_tracked("vendor/lib/x/y", &tracked));
        assert!(!is_tracked("src/b", &tracked) && !is_tracked("vendor/other", &tracked));
    }

    #[test]
    fn files_are_named_by_their_format() {
        assert_eq!(filename("", "zip"), "artifacts.zip");
        assert_eq!(filename("a.zip", "zip"), "a.zip");
        assert_eq!(filename("junit.xml", "gzip"), "junit.xml.gz");
        assert_eq!(filename("gl-sast-report.json", "raw"), "gl-sast-report.json");
    }
}
