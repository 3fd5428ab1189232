//! Commits as they are made: from file actions, by picking and by reverting.

use entities::repo::commit::{CommitDetailEntity, CommitEntity, DryRunEntity};
use forge::commit::{
    author::signature,
    create,
    pick::{PickRequest, pick},
};
use kernel::{Grant, Result};
use org::{access::IdOrPath, user::User};
use repo::{
    commit::{Encoding, read::deadline},
    git::{
        Oid, Signature,
        change::{ActionKind, Change, FileAction, Start, StartAt},
        merge::Operation,
    },
    policy::PushToBranch,
};
use serde_json::Value;

use crate::{
    app::App,
    error::ApiResult,
    extract::{
        Call, Content, NonEmpty, Param, ParamErrors, PathBytes, Raw,
        params::{INVALID, MISSING},
    },
    param_enums, params,
    present::{Created, Either, Json},
    routes,
};

routes! { "Commits" at "/projects/{id}/repository/commits";
    POST ""                   => create      : PushToBranch,
    POST "/{sha}/cherry_pick" => cherry_pick : PushToBranch,
    POST "/{sha}/revert"      => revert      : PushToBranch,
}

kernel::text_enum! {
    /// What is done to a file.
    pub enum FileActionKind { Create = "create", Delete = "delete", Move = "move", Update = "update", Chmod = "chmod" }
}
param_enums! { FileActionKind, Encoding }

params! {
    pub struct ActionFields {
        action: FileActionKind,
        file_path: PathBytes,
        /// Previous path of a moved file.
        previous_path: Option<PathBytes>,
        /// Content of the file. Required by `create` and `update`; a `move` without it keeps the content.
        content: Option<Content>,
        encoding: Encoding = Encoding::Text,
        /// Last known commit SHA of the file.
        last_commit_id: Option<String>,
        /// Whether the file is executable. Required by `chmod`.
        execute_filemode: Option<bool>,
    }
}

/// One file action, with the fields that it needs.
#[derive(Clone, Debug)]
pub struct Action(FileAction);

impl Param for Action {
    fn read(raw: &Raw) -> std::result::Result<Option<Self>, ParamErrors> {
        let Some(fields) = <ActionFields as Param>::read(raw)? else { return Ok(None) };
        let mut flaws = ParamErrors::default();
        let mut need = |there: bool, name: &str| {
            if !there {
                flaws.add(name, MISSING);
            }
        };
        match fields.action {
            FileActionKind::Create | FileActionKind::Update => {
                need(fields.content.is_some(), "[content]")
            }
            FileActionKind::Move => need(fields.previous_path.is_some(), "[previous_path]"),
            FileActionKind::Chmod => need(fields.execute_filemode.is_some(), "[execute_filemode]"),
            FileActionKind::Delete => {}
        }
        let writes = !matches!(fields.action, FileActionKind::Delete | FileActionKind::Chmod);
        let content = fields.content.filter(|_| writes).and_then(|content| {
            let decoded = fields.encoding.decode(content.0);
            if decoded.is_none() {
                flaws.add("[content]", INVALID);
            }
            decoded
        });
        if !flaws.is_empty() {
            return Err(flaws);
        }
        let previous = fields.previous_path.filter(|_| fields.action == FileActionKind::Move);
        Ok(Some(Self(FileAction {
            kind: fields.action.into(),
            path: fields.file_path.0.into(),
            previous_path: previous.map(|path| path.0.into()),
            content,
            last_commit_id: fields.last_commit_id,
            executable: fields.execute_filemode,
        })))
    }

    fn schema() -> Value {
        <ActionFields as Param>::schema()
    }
}

impl From<FileActionKind> for ActionKind {
    fn from(deed: FileActionKind) -> Self {
        match deed {
            FileActionKind::Create => Self::Create,
            FileActionKind::Delete => Self::Delete,
            FileActionKind::Move => Self::Move,
            FileActionKind::Update => Self::Update,
            FileActionKind::Chmod => Self::Chmod,
        }
    }
}

params! {
    pub struct CreateCommit {
        branch: NonEmpty,
        commit_message: String,
        actions: Vec<Action>,
        /// Branch from which a new branch starts. A new branch requires this or `start_sha`.
        start_branch: Option<String>,
        start_sha: Option<String>,
        /// ID or path of another project of the fork network, in which the start is looked up.
        start_project: Option<String>,
        author_email: Option<String>,
        author_name: Option<String>,
        stats: bool = true,
        /// Whether to overwrite the branch with the new commit on top of the start.
        force: bool = false,
    } with exclusive("start_branch", "start_sha");
}

async fn create(
    app: App,
    call: Call<PushToBranch, CreateCommit>,
) -> ApiResult<Created<CommitDetailEntity>> {
    let params = call.params;
    let grant = call.grant;
    let start = params.start_project.filter(|project| !project.is_empty());
    let start = start.map(|project| IdOrPath::parse(&project));
    let at = start_at(params.start_branch, params.start_sha);
    let (author, committer) =
        signatures(&app, call.caller.user()?, params.author_name, params.author_email);
    let change = Change {
        branch: params.branch.0,
        start: Start { at, repository: None },
        force: params.force,
        actions: params.actions.into_iter().map(|action| action.0).collect(),
        message: params.commit_message,
        author,
        committer,
    };
    let id = create::create(&app, &grant, change, start).await?;
    Ok(Created(detail(&app, &grant, id, params.stats).await?))
}

pub(super) fn start_at(branch: Option<String>, sha: Option<String>) -> Option<StartAt> {
    let given = |text: &String| !text.is_empty();
    match (branch.filter(given), sha.filter(given)) {
        (Some(branch), _) => Some(StartAt::Branch(branch)),
        (None, Some(sha)) => Some(StartAt::Sha(sha)),
        (None, None) => None,
    }
}

/// The author, who may be named by the request, and the committer, who is always the caller.
pub(super) fn signatures(
    app: &App,
    caller: &User,
    name: Option<String>,
    email: Option<String>,
) -> (Signature, Signature) {
    let committer = signature(app, caller);
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let author = Signature {
        name: given(name).unwrap_or_else(|| committer.name.clone()),
        email: given(email).unwrap_or_else(|| committer.email.clone()),
        ..committer
    };
    (author, committer)
}

async fn detail(
    app: &App,
    grant: &Grant<PushToBranch>,
    id: Oid,
    stats: bool,
) -> Result<CommitDetailEntity> {
    let (project, answers) = (grant.project(), app.answers.clone());
    let url = app.urls.at(&grant.facts().full_path);
    let read = app.git_read(project, move |reader| {
        let mut entity = CommitEntity::new(&reader.commit(id)?, &url);
        if stats {
            entity = entity.with_stats(answers.stats(reader, id, deadline())?);
        }
        Ok(CommitDetailEntity::new(entity, project))
    });
    read.await
}

params! {
    pub struct CherryPick {
        sha: String,
        branch: NonEmpty,
        dry_run: bool = false,
        /// Replaces the original message.
        message: Option<String>,
    }
}

params! {
    pub struct Revert {
        sha: String,
        branch: NonEmpty,
        dry_run: bool = false,
    }
}

type PickAnswer = Either<Created<CommitEntity>, Json<DryRunEntity>>;

async fn cherry_pick(app: App, call: Call<PushToBranch, CherryPick>) -> ApiResult<PickAnswer> {
    let CherryPick { sha, branch, dry_run, message } = call.params;
    let caller = call.caller.user()?;
    let message = message.filter(|message| !message.is_empty());
    let request =
        PickRequest { operation: Operation::CherryPick, sha, branch: branch.0, dry_run, message };
    Ok(apply(&app, &call.grant, caller, request).await?)
}

async fn revert(app: App, call: Call<PushToBranch, Revert>) -> ApiResult<PickAnswer> {
    let Revert { sha, branch, dry_run } = call.params;
    let caller = call.caller.user()?;
    let request =
        PickRequest { operation: Operation::Revert, sha, branch: branch.0, dry_run, message: None };
    Ok(apply(&app, &call.grant, caller, request).await?)
}

async fn apply(
    app: &App,
    grant: &Grant<PushToBranch>,
    caller: &User,
    request: PickRequest,
) -> Result<PickAnswer> {
    match pick(app, grant, caller, request).await? {
        Some(id) => Ok(Either::Left(Created(detail(app, grant, id, false).await?.commit))),
        None => Ok(Either::Right(Json(DryRunEntity { dry_run: "success" }))),
    }
}
