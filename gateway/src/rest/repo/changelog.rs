//! Changelogs from the trailers of commits: shown, or committed to a file.

use std::collections::{BTreeMap, HashMap};

use actix_web::HttpResponse;
use forge::branch::protection_of;
use kernel::{
    Error, Grant, Result, Ts,
    error::{Kind, Message},
};
use org::user::store::UserStore;
use repo::{
    changelog::{self, ChangelogCommits, Entry, Release, Request, Version},
    commit::{FileQuery, Words, file},
    git::{
        GitError, TreePath,
        change::{ActionKind, Change, FileAction, Start},
    },
    policy::{PushCode, ReadCode},
};
use review::{merge_request::MergeRequestCommitStore, policy::ListMergeRequests};
use serde_json::{Value, json};

use super::branches::signature;
use crate::{
    app::App,
    entities::repo::changelog::ChangelogEntity,
    error::ApiResult,
    extract::{Call, Param, ParamErrors, Raw, params::INVALID},
    params,
    present::{Custom, Json},
    routes,
};

routes! { "Changelogs" at "/projects/{id}/repository/changelog";
    GET  "" => show : ReadCode also JobToken,
    POST "" => add  : PushCode,
}

const FILE: &str = "CHANGELOG.md";
const TRAILER: &str = "Changelog";
const NOT_YOUR_BRANCH: &str = "You are not allowed to commit a changelog on this branch";
/// A file beyond this is no changelog.
const FILE_BYTES: u64 = 8 << 20;

/// The number of a release: `1.2.3`, `v1.2.3-rc1`.
#[derive(Clone, Debug)]
pub struct VersionText(String);

impl Param for VersionText {
    fn read(raw: &Raw) -> std::result::Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            Some(text) if Version::parse(&text).is_some() => Ok(Some(Self(text))),
            _ => Err(ParamErrors::one(INVALID)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "examples": ["1.2.3"] })
    }
}

params! {
    pub struct ShowChangelog {
        version: VersionText,
        /// Commit after which the changelog starts. Default: the previous release.
        from: Option<String>,
        /// Last commit of the changelog. Default: the head of the default branch.
        to: Option<String>,
        date: Option<Ts>,
        /// Git trailer that adds a commit to the changelog.
        trailer: String = TRAILER.to_owned(),
        /// Path of the changelog configuration in the repository.
        config_file: Option<String>,
    }
}

async fn show(app: App, call: Call<ReadCode, ShowChangelog>) -> ApiResult<Json<ChangelogEntity>> {
    let params = call.params;
    let (date, request) = (params.date, params.into_request());
    Ok(Json(ChangelogEntity { notes: notes(&app, &call.grant, request, date).await? }))
}

impl ShowChangelog {
    fn into_request(self) -> Request {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Request {
            version: self.version.0,
            from: given(self.from),
            to: given(self.to),
            trailer: self.trailer,
            config_file: given(self.config_file),
        }
    }
}

/// The section of one release.
async fn notes(
    app: &App,
    grant: &Grant<ReadCode>,
    request: Request,
    date: Option<Ts>,
) -> Result<String> {
    let (facts, version) = (grant.facts().clone(), request.version.clone());
    let full_path = facts.full_path.clone();
    let read = app.git_read(facts.id, move |reader| changelog::collect(reader, &facts, &request));
    let ChangelogCommits { config, commits } = read.await?;
    let emails = commits.iter().map(|(_, commit)| commit.author.email.clone()).collect();
    let authors = authors(app, emails).await?;
    let merged = merged(app, grant, &commits).await?;
    let entry = |(value, commit): &(String, repo::git::CommitInfo)| Entry {
        category: config.category(value).to_owned(),
        title: commit.title.clone(),
        commit: format!("{full_path}@{}", commit.id),
        author: authors.get(&commit.author.email).cloned(),
        merge_request: merged.get(&commit.id.to_string()).map(|iid| format!("{full_path}!{iid}")),
    };
    let entries = commits.iter().map(entry).collect();
    let date = date.unwrap_or(app.db.clock().now()).date();
    Ok(Release { version, date, entries }.markdown(&config))
}

/// Which merge requests brought the commits, for who may read merge requests.
async fn merged(
    app: &App,
    grant: &Grant<ReadCode>,
    commits: &[(String, repo::git::CommitInfo)],
) -> Result<HashMap<String, i64>> {
    if grant.also::<ListMergeRequests>().is_err() {
        return Ok(HashMap::new());
    }
    let project = grant.project();
    let shas: Vec<String> = commits.iter().map(|(_, commit)| commit.id.to_string()).collect();
    app.db.read(move |tx| tx.merged_with(project, &shas)).await
}

/// Who of the authors has an account, by their addresses.
async fn authors(app: &App, mut emails: Vec<String>) -> Result<BTreeMap<String, String>> {
    emails.sort();
    emails.dedup();
    let found = app.db.read(move |tx| {
        let mut authors = BTreeMap::new();
        for email in emails {
            if let Some(user) = tx.find_user_with_email(&email)? {
                authors.insert(email, format!("@{}", user.username));
            }
        }
        Ok(authors)
    });
    found.await
}

params! {
    pub struct AddChangelog {
        version: VersionText,
        from: Option<String>,
        to: Option<String>,
        date: Option<Ts>,
        trailer: String = TRAILER.to_owned(),
        config_file: Option<String>,
        /// Branch to commit to. Default: the default branch.
        branch: Option<String>,
        file: String = FILE.to_owned(),
        /// Attributes of the commit.
        message: Option<String>,
    }
}

async fn add(app: App, call: Call<PushCode, AddChangelog>) -> ApiResult<Custom> {
    let (grant, params) = (call.grant, call.params);
    let branch = params.branch.clone().filter(|branch| !branch.is_empty());
    let branch = branch.or_else(|| grant.facts().default_branch.clone());
    let branch = branch.ok_or(Error::not_found("Branch"))?;
    if !protection_of(&app, &grant).await?.branch(&branch).may_push() {
        return Err(Error::forbidden().because(NOT_YOUR_BRANCH).into());
    }
    let version = params.version.0.clone();
    let message = params.message.clone().filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| format!("Add changelog for version {version}"));
    let (file, date) = (params.file.clone(), params.date);
    let request = params.into_request(&branch);
    let section = notes(&app, &grant.also::<ReadCode>()?, request, date).await?;
    let action = action(&app, &grant, &branch, file, &version, &section).await?;
    let committer = signature(&app, &call.caller)?;
    let change = Change {
        branch,
        start: Start::default(),
        force: false,
        actions: vec![action],
        message,
        author: committer.clone(),
        committer,
    };
    app.writer().commit(&grant.also()?, change, Words::Commit).await.map_err(unfit)?;
    Ok(Custom(HttpResponse::Ok().content_type("application/json").body("null")))
}

impl AddChangelog {
    fn into_request(self, branch: &str) -> Request {
        let shown = ShowChangelog {
            version: self.version,
            from: self.from,
            to: self.to.or_else(|| Some(branch.to_owned())),
            date: None,
            trailer: self.trailer,
            config_file: self.config_file,
        };
        shown.into_request()
    }
}

/// The file, made or with one more section.
async fn action(
    app: &App,
    grant: &Grant<PushCode>,
    branch: &str,
    file: String,
    version: &str,
    section: &str,
) -> Result<FileAction> {
    let path = TreePath::lookup(&file).ok().filter(|path| !path.is_root());
    let query = FileQuery { ref_name: branch.to_owned(), path };
    let answers = app.answers.clone();
    let read = app.git_read(grant.project(), move |reader| {
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
    match error {
        Error { kind: Kind::BadRequest, message: Message::Whole(why), .. } => {
            Error::unprocessable().whole(failed(&why))
        }
        other => other,
    }
}
