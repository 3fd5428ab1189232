//! Caches on this machine's disk: an archive for each project and key.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::PathBuf,
};

use sha2::{Digest as _, Sha256};

use super::{Failure, Job, artifacts::select};
use crate::{
    api::payload::Cache,
    files::archive::{pack, unpack},
    trace::{NOTICE, WARNING},
};

/// Longer keys are named by their digest.
const LONGEST_NAME: usize = 180;

/// Brings back what earlier jobs have kept. A cache that is missing or damaged is no reason to fail.
pub(super) fn restore(job: &Job) -> Result<(), Failure> {
    for cache in &job.payload.cache {
        let policy = job.variables.expand(&cache.policy);
        if !matches!(policy.as_str(), "" | "pull" | "pull-push") {
            job.trace.line(&format!("Not downloading cache {} due to policy", cache.key));
            continue;
        }
        job.ensure_wanted()?;
        let keys = keys(job, cache);
        let found = keys.iter().find_map(|key| Some((key, File::open(file(job, key)).ok()?)));
        let Some((key, archive)) = found else {
            let said = format!("No cache for {}", keys.first().map_or("", String::as_str));
            job.trace.styled(WARNING, &said);
            continue;
        };
        job.trace.styled(NOTICE, &format!("Checking cache for {key}..."));
        match unpack(archive, job.layout.target()) {
            Ok(_) => job.trace.line("Successfully extracted cache"),
            Err(error) => job.trace.styled(WARNING, &format!("The cache was not used: {error:#}")),
        }
    }
    Ok(())
}

/// Keeps what later jobs may need.
pub(super) fn save(job: &Job, tracked: &BTreeSet<String>, is_success: bool) -> Result<(), Failure> {
    for cache in &job.payload.cache {
        let policy = job.variables.expand(&cache.policy);
        if !fits(&cache.when, is_success) || !matches!(policy.as_str(), "" | "push" | "pull-push") {
            job.trace.line(&format!("Not uploading cache {} due to policy", cache.key));
            continue;
        }
        let Some(key) = keys(job, cache).into_iter().next() else { continue };
        job.trace.styled(NOTICE, &format!("Creating cache {key}..."));
        if let Err(error) = save_one(job, cache, &key, tracked) {
            job.trace.styled(WARNING, &format!("Failed to create cache: {error:#}"));
        }
    }
    Ok(())
}

/// Whether something that is kept `when` is kept now.
pub(super) fn fits(when: &str, is_success: bool) -> bool {
    match when {
        "always" => true,
        "on_failure" => !is_success,
        _ => is_success,
    }
}

fn save_one(job: &Job, cache: &Cache, key: &str, tracked: &BTreeSet<String>) -> anyhow::Result<()> {
    let found = select(job, &cache.paths, &[], cache.untracked, tracked)?;
    if found.is_empty() {
        job.trace.line("No files to cache");
        return Ok(());
    }
    let file = file(job, key);
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder)?;
    // Whoever reads meanwhile reads the old one.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    pack(&job.layout.project, &found, new.as_file_mut())?;
    new.persist(&file)?;
    job.trace.line("Created cache");
    Ok(())
}

/// The key and those to fall back to.
fn keys(job: &Job, cache: &Cache) -> Vec<String> {
    let own = job.variables.expand(&cache.key);
    let own = if own.is_empty() { "default".to_owned() } else { own };
    let is_protected = is_protected(&own);
    let further = cache.fallback_keys.iter().map(|key| job.variables.expand(key));
    let further = further.chain(job.variables.text("CACHE_FALLBACK_KEY").map(str::to_owned));
    // Whoever may run a job on an unprotected branch may not read the caches of protected ones.
    let allowed =
        further.filter(|key| !key.is_empty() && (is_protected || !self::is_protected(key)));
    [own].into_iter().chain(allowed).collect()
}

fn is_protected(key: &str) -> bool {
    key.ends_with("-protected")
}

fn file(job: &Job, key: &str) -> PathBuf {
    let project = job.payload.job_info.project_id.to_string();
    // Projects of two servers may have the same number.
    let server = name(&job.runner.url);
    job.runner.cache_folder().join(server).join(project).join(name(key)).join("cache.zip")
}

/// A key as one file name: two keys never share one.
fn name(key: &str) -> String {
    let sign = |(place, byte): (usize, u8)| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        b'.' if place > 0 => ".".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    let name: String = key.bytes().enumerate().map(sign).collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // No name of the other kind has this sign.
    format!("={}", hex::encode(Sha256::digest(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_file_name() {
        assert_eq!(name("main-non_protected"), "main-non_protected");
        assert_eq!(name("../../etc"), "%2E.%2F..%2Fetc");
        assert_ne!(name("a/b"), name("a%2Fb"));
        let long = name(&"x".repeat(5000));
        assert!(long.len() < 100 && long.starts_with('='));
    }

    #[test]
    fn what_is_kept_depends_on_how_the_job_went() {
        assert!(fits("", true) && fits("on_success", true) && !fits("on_success", false));
        assert!(fits("on_failure", false) && !fits("on_failure", true) && fits("always", false));
    }

    #[test]
    fn keys_of_protected_branches_are_told_apart() {
        assert!(is_protected("a-protected") && !is_protected("a-non_protected"));
    }
}
