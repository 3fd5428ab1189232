//! Commits.

use std::{collections::HashMap, sync::Arc};

use dataloader::{BatchFn, cached::Loader};
use entities::repo::diff::DiffEntity;
use forge::Forge;
use futures_util::future::join_all;
use graphql::{Failure, Registry, Value};
use kernel::{
    Ts,
    ids::{ProjectId, UserId},
};
use org::user::addresses::holders;
use repo::{
    commit::read::{deadline, find_commit},
    git::{CommitInfo, FileDiff},
    policy::ReadCode,
};

use super::signature;
use crate::{
    context::Context,
    failure::{failure_of, visible},
    loaders::BatchLoader,
    people,
    projects::{self, ProjectRecord},
    values::{markdown, path_of, time},
};

/// A commit of a project whose code the caller may read.
pub struct CommitRecord {
    pub project: Arc<ProjectRecord>,
    pub commit: CommitInfo,
}

pub fn commit(project: Arc<ProjectRecord>, commit: CommitInfo) -> Value {
    Value::object("Commit", Arc::new(CommitRecord { project, commit }))
}

/// A commit by what names it; null where it is unknown, or the caller may not read the project's code.
///
/// # Errors
/// When the database or the repository failed.
pub async fn commit_of(
    context: &Context,
    project: ProjectId,
    name: &str,
) -> Result<Value, Failure> {
    let found = readable_commit(context, project, name).await?;
    Ok(found.map_or(Value::Null, |(record, found)| commit(record, CommitInfo::clone(&found))))
}

/// A commit with its project; nothing where it is unknown, or the caller may not read it.
///
/// # Errors
/// When the database or the repository failed.
pub async fn readable_commit(
    context: &Context,
    project: ProjectId,
    name: &str,
) -> Result<Option<(Arc<ProjectRecord>, Arc<CommitInfo>)>, Failure> {
    let record = projects::record_of(context, project).await?;
    let Some(record) = record.filter(|record| record.may::<ReadCode>()) else {
        return Ok(None);
    };
    let loader = context.loaders.of(|_| CommitLoader::new(&context.forge));
    let found = loader.0.try_load((project, name.to_owned())).await;
    Ok(found.map_err(Failure::internal)??.map(|found| (record, found)))
}

type CommitKey = (ProjectId, String);
type CommitAnswer = Result<Option<Arc<CommitInfo>>, Failure>;

/// Reads commits: all that a query asks of one repository at a time by one visit.
struct CommitLoader(Loader<CommitKey, CommitAnswer, CommitBatch>);

struct CommitBatch(Forge);

impl CommitLoader {
    fn new(forge: &Forge) -> Self {
        Self(Loader::new(CommitBatch(forge.clone())))
    }
}

impl BatchFn<CommitKey, CommitAnswer> for CommitBatch {
    async fn load(&mut self, keys: &[CommitKey]) -> HashMap<CommitKey, CommitAnswer> {
        let mut names: HashMap<ProjectId, Vec<String>> = HashMap::new();
        for (project, name) in keys {
            names.entry(*project).or_default().push(name.clone());
        }
        let forge = &self.0;
        let visits = names.into_iter().map(|(project, names)| async move {
            let wanted = names.clone();
            let read = forge.git_read(project, move |reader| {
                let commits = wanted.iter().map(|name| match find_commit(reader, name)? {
                    Some(id) => Ok(Some(Arc::new(reader.commit(id)?))),
                    None => Ok(None),
                });
                commits.collect::<kernel::Result<Vec<_>>>()
            });
            let found = visible(read.await);
            let each = names.into_iter().enumerate().map(move |(place, name)| {
                let commit = match &found {
                    Ok(found) => Ok(found.as_ref().and_then(|all| all.get(place)?.clone())),
                    Err(failure) => Err(failure.clone()),
                };
                ((project, name), commit)
            });
            each.collect::<Vec<_>>()
        });
        join_all(visits).await.into_iter().flatten().collect()
    }
}

/// Loads whose e-mail addresses are whose.
struct AddressLoader(BatchLoader<String, UserId>);

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["Diff", "GpgSignature", "SshSignature", "X509Signature"]);
    registry
        .object::<CommitRecord>("Commit")
        .plain("authorEmail", |record| record.commit.author.email.as_str().into())
        .plain("authorName", |record| record.commit.author.name.as_str().into())
        .plain("authoredDate", |record| time(Ts::from_unix(record.commit.author.at)))
        .plain("committedDate", |record| time(Ts::from_unix(record.commit.committer.at)))
        .plain("committerEmail", |record| record.commit.committer.email.as_str().into())
        .plain("committerName", |record| record.commit.committer.name.as_str().into())
        .plain("description", |record| description(&record.commit).into())
        .plain("fullTitle", |record| record.commit.title.as_str().into())
        .plain("fullTitleHtml", |record| markup::inline(&record.commit.title).into())
        .plain("id", |record| Value::gid("CommitPresenter", record.commit.id))
        .plain("message", |record| record.commit.message.as_str().into())
        .plain("sha", |record| record.commit.id.to_string().into())
        .plain("shortId", |record| record.commit.id.short().into())
        .plain("title", |record| title(&record.commit).into())
        .plain("titleHtml", |record| markup::inline(&title(&record.commit)).into())
        .plain("webUrl", |record| web_url(record).into())
        .lookup("author", |record: Arc<CommitRecord>, _, context| async move {
            author(&context, &record.commit).await
        })
        .lookup("authorGravatar", |record, _, context| async move {
            Ok(context.forge.urls.gravatar(&record.commit.author.email).into())
        })
        .lookup("descriptionHtml", |record, _, context| async move {
            markdown(&context.forge, Some(&description(&record.commit)), Some(record.project.id()))
                .await
        })
        .lookup("diffs", |record, _, context| async move { diffs(&context, &record).await })
        .reads_git("diffs")
        .lookup("signature", |record, _, context| async move {
            signature::signature(&context, &record).await
        })
        .reads_git("signature")
        .lookup("webPath", |record, _, context| async move {
            Ok(path_of(&context.forge.urls, &web_url(&record)).into())
        })
        .none(&["signatureHtml"]);
}

/// A longer first line is cut.
const LONGEST_TITLE: usize = 100;
/// So much of it is shown.
const SHOWN_TITLE: usize = 80;

/// The first line, shortened where it is long.
fn title(commit: &CommitInfo) -> String {
    match commit.title.chars().count() > LONGEST_TITLE {
        true => format!("{}...", commit.title.chars().take(SHOWN_TITLE - 3).collect::<String>()),
        false => commit.title.clone(),
    }
}

/// The message without its first line.
fn description(commit: &CommitInfo) -> String {
    let rest = commit.message.split_once('\n').map_or("", |(_, rest)| rest);
    rest.trim_start_matches('\n').to_owned()
}

fn web_url(record: &CommitRecord) -> String {
    format!("{}/-/commit/{}", record.project.web_url(), record.commit.id)
}

/// The user who has shown that the author's address is theirs.
async fn author(context: &Context, commit: &CommitInfo) -> Result<Value, Failure> {
    let host = context.forge.urls.private_mail_host();
    let addresses = context
        .loaders
        .of(|db| AddressLoader(BatchLoader::new(db, move |tx, emails| holders(tx, emails, &host))));
    match addresses.0.load(commit.author.email.to_lowercase()).await? {
        Some(user) => people::of_id(context, user).await,
        None => Ok(Value::Null),
    }
}

async fn diffs(context: &Context, record: &CommitRecord) -> Result<Value, Failure> {
    let (answers, id) = (context.forge.answers.clone(), record.commit.id);
    let read = context.forge.git_read(record.project.id(), move |reader| {
        Ok(answers.commit_diff(reader, id, deadline())?)
    });
    let files = read.await.map_err(failure_of)?;
    Ok(Value::list(files.iter().map(diff)))
}

fn diff(file: &FileDiff) -> Value {
    let entity = DiffEntity::from(file);
    Value::fields(
        "Diff",
        [
            ("aMode", entity.a_mode.into()),
            ("bMode", entity.b_mode.into()),
            ("deletedFile", entity.deleted_file.into()),
            ("diff", entity.diff.into()),
            ("newFile", entity.new_file.into()),
            ("newPath", entity.new_path.into()),
            ("oldPath", entity.old_path.into()),
            ("renamedFile", entity.renamed_file.into()),
        ],
    )
}
