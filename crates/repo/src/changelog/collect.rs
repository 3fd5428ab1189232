//! The commits of a release, found by their trailers.

use std::collections::HashSet;

use kernel::{Error, Result, access::ProjectFacts};

use super::{
    config::{self, Config},
    failed,
    version::Version,
};
use crate::{
    commit::read::{deadline, default_head},
    git::{CommitInfo, GitError, LogQuery, Oid, Reader, RefInfo, TreePath},
};

/// No configuration is longer.
const CONFIG_BYTES: u64 = 1 << 20;
/// Of a message that takes back another commit.
const REVERTS: &str = "This reverts commit ";
const NO_BEGINNING: &str =
    "The commit start range is unspecified, and no previous tag could be found to use instead";

/// Which changelog is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    pub version: String,
    /// The commit after which it begins; the last release before the version when left out.
    pub from: Option<String>,
    /// The last commit; the head of the default branch when left out.
    pub to: Option<String>,
    /// The trailer that marks a change.
    pub trailer: String,
    pub config_file: Option<String>,
}

/// The commits that count, newest first, with the value of their trailer.
#[derive(Clone, Debug)]
pub struct ChangelogCommits {
    pub config: Config,
    pub commits: Vec<(String, CommitInfo)>,
}

pub fn collect(
    reader: &Reader,
    project: &ProjectFacts,
    request: &Request,
) -> Result<ChangelogCommits> {
    let Some(head) = default_head(reader, project)? else { return Err(Error::not_found("Commit")) };
    let config = read_config(reader, head, request.config_file.as_deref())?;
    let to = match &request.to {
        Some(name) => resolved(reader, name)?,
        None => head,
    };
    let from = match &request.from {
        Some(name) => resolved(reader, name)?,
        None => previous_release(reader, &config, &request.version)?
            .ok_or_else(|| failed(NO_BEGINNING))?,
    };
    let query = LogQuery { exclude: vec![from], ..LogQuery::of(to) };
    let commits = reader.log(&query, deadline())?;
    Ok(ChangelogCommits { config, commits: marked(commits, &request.trailer) })
}

fn resolved(reader: &Reader, name: &str) -> Result<Oid> {
    match reader.resolve(name) {
        Err(GitError::NotFound | GitError::InvalidRef(_)) => {
            Err(failed(format!("the commit {name} does not exist")))
        }
        found => Ok(found?),
    }
}

fn read_config(reader: &Reader, head: Oid, file: Option<&str>) -> Result<Config> {
    let path = TreePath::lookup(file.unwrap_or(config::FILE)).map_err(failed)?;
    let Some(entry) = reader.find_entry(head, &path)? else { return Config::read(None) };
    match reader.blob(entry.id, CONFIG_BYTES) {
        Err(GitError::NotFound) => Config::read(None),
        content => Config::read(Some(&String::from_utf8_lossy(&content?))),
    }
}

/// The commit of the last release before `version`.
fn previous_release(reader: &Reader, config: &Config, version: &str) -> Result<Option<Oid>> {
    let Some(wanted) = Version::parse(version) else { return Ok(None) };
    let released = |tag: RefInfo| -> Option<(Version, Oid)> {
        let name = tag.name.short();
        let parts = config.tags.captures(&name)?;
        let part = |group: &str| parts.name(group).map(|part| part.as_str());
        let number = |group: &str| part(group).unwrap_or("0").to_owned();
        let text = [number("major"), number("minor"), number("patch")].join(".");
        let version = Version::parse(&text).filter(|_| part("pre").is_none())?;
        Some((version, tag.commit?))
    };
    let releases = reader.tag_refs()?.into_iter().filter_map(released);
    let before = releases.filter(|(version, _)| *version < wanted);
    Ok(before.max_by(|one, other| one.0.cmp(&other.0)).map(|(_, commit)| commit))
}

/// Those with the trailer. What was taken back does not count, nor does the taking back.
fn marked(commits: Vec<CommitInfo>, trailer: &str) -> Vec<(String, CommitInfo)> {
    let mut taken_back: HashSet<Oid> = HashSet::new();
    let mut found = Vec::new();
    for commit in commits {
        if taken_back.contains(&commit.id) {
            continue;
        }
        if let Some(reverted) = reverted_by(&commit) {
            taken_back.insert(reverted);
            continue;
        }
        let mut trailers = commit.trailers.iter();
        let own = trailers.find(|(name, _)| name.eq_ignore_ascii_case(trailer));
        if let Some((_, value)) = own {
            found.push((value.clone(), commit));
        }
    }
    found
}

fn reverted_by(commit: &CommitInfo) -> Option<Oid> {
    let (_, rest) = commit.message.split_once(REVERTS)?;
    rest.get(..40)?.parse().ok()
}
