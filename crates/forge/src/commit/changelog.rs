//! Changelogs from the trailers of commits: shown, or committed to a file.

use std::collections::{BTreeMap, HashMap};

use kernel::{Error, Grant, Result, Ts, error::Kind};
use org::user::{User, store::UserStore as _};
use repo::{
    changelog::{self, ChangelogCommits, Entry, Release, Request},
    commit::{FileQuery, RefusalStyle, file},
    git::{
        CommitInfo, GitError, TreePath,
        change::{ActionKind, Change, FileAction, Start},
    },
    policy::{PushCode, ReadCode},
};
use review::{merge_request::MergeRequestCommitStore as _, policy::ListMergeRequests};

use super::author::signature;
use crate::{Forge, branch::protection_of};

const NOT_YOUR_BRANCH: &str = "You are not allowed to commit a changelog on this branch";
/// A file beyond this is no changelog.
const FILE_BYTES: u64 = 8 << 20;

/// A section that is committed to a file.
pub struct NewSection {
    /// Its last commit is the head of the branch, where the request names none.
    pub request: Request,
    pub date: Option<Ts>,
    /// The default branch, where there is none.
    pub branch: Option<String>,
    pub file: String,
    /// Default: a sentence with the version.
    pub message: Option<String>,
}

/// The section of one release.
///
/// # Errors
/// Where there is no such range of commits, or no configuration that can be read.
pub async fn section(
    forge: &Forge,
    grant: &Grant<ReadCode>,
    request: Request,
    date: Option<Ts>,
) -> Result<String> {
    let (facts, version) = (grant.facts().clone(), request.version.clone());
    let full_path = facts.full_path.clone();
    let read = forge.git_read(facts.id, move |reader| changelog::collect(reader, &facts, &request));
    let ChangelogCommits { config, commits } = read.await?;
    let emails = commits.iter().map(|(_, commit)| commit.author.email.clone()).collect();
    let authors = authors(forge, emails).await?;
    let merged = merged(forge, grant, &commits).await?;
    let entry = |(value, commit): &(String, CommitInfo)| Entry {
        category: config.category(value).to_owned(),
        title: commit.title.clone(),
        commit: format!("{full_path}@{}", commit.id),
        author: authors.get(&commit.author.email).cloned(),
        merge_request: merged.get(&commit.id.to_string()).map(|iid| format!("{full_path}!{iid}")),
    };
    let entries = commits.iter().map(entry).collect();
    let date = date.unwrap_or(forge.db.clock().now()).date();
    Ok(Release { version, date, entries }.markdown(&config))
}

/// Which merge requests brought the commits, for who may read merge requests.
async fn merged(
    forge: &Forge,
    grant: &Grant<ReadCode>,
    commits: &[(String, CommitInfo)],
) -> Result<HashMap<String, i64>> {
    if grant.also::<ListMergeRequests>().is_err() {
        return Ok(HashMap::new());
    }
    let project = grant.project();
    let shas: Vec<String> = commits.iter().map(|(_, commit)| commit.id.to_string()).collect();
    forge.db.read(move |tx| tx.merged_with(project, &shas)).await
}

/// Who of the authors has an account, by their addresses.
async fn authors(forge: &Forge, mut emails: Vec<String>) -> Result<BTreeMap<String, String>> {
    emails.sort();
    emails.dedup();
    let found = forge.db.read(move |tx| {
        let users = tx.users_by_email(&emails)?;
        let mention = |email: String| {
            let user = users.get(&email.to_lowercase())?;
            Some((email, format!("@{}", user.username)))
        };
        Ok(emails.into_iter().filter_map(mention).collect())
    });
    found.await
}

/// Commits the section of one release to the changelog of a branch.
///
/// # Errors
/// As [`section`], and where the caller may not push to the branch.
pub async fn add(
    forge: &Forge,
    grant: &Grant<PushCode>,
    caller: &User,
    new: NewSection,
) -> Result<()> {
    let branch = new.branch.filter(|branch| !branch.is_empty());
    let branch = branch.or_else(|| grant.facts().default_branch.clone());
    let branch = branch.ok_or_else(|| Error::not_found("Branch"))?;
    if !protection_of(forge, grant).await?.branch(&branch).may_push() {
        return Err(Error::forbidden().because(NOT_YOUR_BRANCH));
    }
    let version = new.request.version.clone();
    let message = new.message.filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| format!("Add changelog for version {version}"));
    let to = new.request.to.or_else(|| Some(branch.clone())).filter(|to| !to.is_empty());
    let request = Request { to, ..new.request };
    let section = section(forge, &grant.also::<ReadCode>()?, request, new.date).await?;
    let action = action(forge, grant, &branch, new.file, &version, &section).await?;
    let committer = signature(forge, caller);
    let change = Change {
        branch,
        start: Start::default(),
        force: false,
        actions: vec![action],
        message,
        author: committer.clone(),
        committer,
    };
    forge.writer().commit(&grant.also()?, change, RefusalStyle::Commit).await.map_err(unfit)?;
    Ok(())
}

/// The file, made or with one more section.
async fn action(
    forge: &Forge,
    grant: &Grant<PushCode>,
    branch: &str,
    file: String,
    version: &str,
    section: &str,
) -> Result<FileAction> {
    let path = TreePath::lookup(&file).ok().filter(|path| !path.is_root());
    let query = FileQuery { ref_name: branch.to_owned(), path };
    let answers = forge.answers.clone();
    let read = forge.git_read(grant.project(), move |reader| {
        let facts = match file::find(reader, &answers, &query) {
            Err(gone) if gone.is_not_found("File") => return Ok(None),
            found => found?,
        };
        let content = match reader.blob(facts.entry.id, FILE_BYTES) {
            Err(GitError::TooLarge) => {
                return Err(Error::unprocessable().whole(failed("the file is too large")));
            }
            content => content?,
        };
        Ok(Some((String::from_utf8_lossy(&content).into_owned(), facts.last_commit)))
    });
    let action = match read.await? {
        Some((old, last)) => FileAction::new(ActionKind::Update, file)
            .content(changelog::with_release(&old, version, section))
            .seen(last.to_string()),
        None => FileAction::new(ActionKind::Create, file)
            .content(changelog::with_release("", version, section)),
    };
    Ok(action)
}

fn failed(why: &str) -> String {
    format!("Failed to generate the changelog: {why}")
}

/// A commit that was refused is a changelog that cannot be made.
fn unfit(error: Error) -> Error {
    match error.into_whole(Kind::BadRequest) {
        Ok(why) => Error::unprocessable().whole(failed(&why)),
        Err(other) => other,
    }
}
