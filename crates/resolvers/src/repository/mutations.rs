//! Changes of repositories: commits and branches.

use forge::{
    branch,
    commit::{author, create},
};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::Error;
use repo::{
    commit::Encoding,
    git::{
        Oid,
        change::{ActionKind, Change, FileAction, Start, StartAt},
    },
    policy::{PushCode, PushToBranch},
};

use super::{commit, commit_of};
use crate::{
    context::Context,
    failure::{done, failure_of},
    projects::{self, ProjectRecord},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["Branch"]);
    registry.mutation("commitCreate", |input, context| async move {
        commit_create(&context, &input).await
    });
    registry.mutation("createBranch", |input, context| async move {
        create_branch(&context, &input).await
    });
}

async fn commit_create(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let project = projects::named(context, &input.text("projectPath")?).await?;
    let grant = project.grant::<PushToBranch>().map_err(failure_of)?;
    let given = input.objects("actions");
    let contents: Vec<String> =
        given.iter().map(|action| action.maybe_text("content").unwrap_or_default()).collect();
    let actions = match given.iter().map(action).collect::<Result<Vec<_>, ActionFault>>() {
        Ok(actions) => actions,
        Err(ActionFault::Business(sentence)) => return Ok(Payload::errors(vec![sentence])),
        Err(ActionFault::Failed(failure)) => return Err(failure),
    };
    let signature = author::signature(&context.forge, context.signed_in()?);
    let start = input.maybe_text("startBranch").filter(|name| !name.is_empty());
    let change = Change {
        branch: input.text("branch")?,
        start: Start { at: start.map(StartAt::Branch), repository: None },
        force: false,
        actions,
        message: input.text("message")?,
        author: signature.clone(),
        committer: signature,
    };
    let id = match done(create::create(&context.forge, &grant, change, None).await)? {
        Ok(id) => id,
        Err(sentences) => return Ok(Payload::errors(sentences)),
    };
    let made = read(context, &project, id).await?;
    let folder = context.forge.urls.folder();
    Ok(Payload::new()
        .field("commit", made)
        .field("commitPipelinePath", format!("{folder}/api/graphql:pipelines/sha/{id}"))
        .field("content", contents))
}

/// Reasons for which a file action is invalid.
enum ActionFault {
    Business(String),
    Failed(Failure),
}

impl From<Failure> for ActionFault {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// An action on a file, with what it needs.
fn action(input: &Arguments) -> Result<FileAction, ActionFault> {
    let path = input.text("filePath")?;
    let kind = match input.text("action")?.as_str() {
        "CREATE" => ActionKind::Create,
        "DELETE" => ActionKind::Delete,
        "MOVE" => ActionKind::Move,
        "UPDATE" => ActionKind::Update,
        _ => ActionKind::Chmod,
    };
    let lacks = |name: &str| ActionFault::Business(format!("{name} is missing for {path}"));
    let encoding = match input.maybe_enum("encoding").as_deref() {
        Some("BASE64") => Encoding::Base64,
        _ => Encoding::Text,
    };
    let writes = !matches!(kind, ActionKind::Delete | ActionKind::Chmod);
    let content = match input.maybe_text("content").filter(|_| writes) {
        Some(content) => Some(
            encoding
                .decode(content.into())
                .ok_or_else(|| ActionFault::Business(format!("content of {path} is invalid")))?,
        ),
        None => None,
    };
    if content.is_none() && matches!(kind, ActionKind::Create | ActionKind::Update) {
        return Err(lacks("content"));
    }
    let previous = input.maybe_text("previousPath").filter(|_| kind == ActionKind::Move);
    if kind == ActionKind::Move && previous.is_none() {
        return Err(lacks("previousPath"));
    }
    let executable = input.maybe_bool("executeFilemode");
    if kind == ActionKind::Chmod && executable.is_none() {
        return Err(lacks("executeFilemode"));
    }
    Ok(FileAction {
        kind,
        path: path.into(),
        previous_path: previous.map(Into::into),
        content,
        last_commit_id: input.maybe_text("lastCommitId"),
        executable,
    })
}

/// A commit that was just made.
async fn read(
    context: &Context,
    project: &std::sync::Arc<ProjectRecord>,
    id: Oid,
) -> Result<Value, Failure> {
    let made = context.forge.git_read(project.id(), move |reader| Ok(reader.commit(id)?)).await;
    Ok(commit(project.clone(), made.map_err(failure_of)?))
}

async fn create_branch(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let project = projects::named(context, &input.text("projectPath")?).await?;
    let grant = project.grant::<PushCode>().map_err(failure_of)?;
    let (name, start) = (input.text("name")?, input.text("ref")?);
    let user = context.signed_in()?;
    let made = match start.trim().is_empty() {
        true => Err(Error::bad_request().whole("Ref can't be blank")),
        false => branch::create(&context.forge, &grant, user, &name, &start).await,
    };
    if let Err(sentences) = done(made)? {
        return Ok(Payload::errors(sentences));
    }
    let head = commit_of(context, project.id(), &format!("refs/heads/{name}")).await?;
    let branch = Value::fields("Branch", [("name", name.into()), ("commit", head)]);
    Ok(Payload::new().field("branch", branch))
}
