//! Repositories: commits, folders, files, branches and the rules for these.

mod blob;
mod branch_approvals;
mod branch_rules;
mod commit;
mod mutations;
mod signature;
mod tree;

use std::sync::Arc;

use graphql::{Arguments, Failure, Registry, Value};
use kernel::{Grant, Ts};
use org::policy::OperateProject;
use repo::{
    code_owners,
    commit::{
        CommitFilter, Source,
        read::{self, default_head, find_commit},
    },
    git::{Oid, Order, Reader},
    policy::ReadCode,
    protection::Pattern,
};

use super::{
    context::Context,
    failure::{failure_of, visible},
    numbered_list::NumberedList,
    projects::ProjectRecord,
};

pub(super) use self::branch_rules::branch_rules;
pub use self::commit::{CommitRecord, commit, commit_of, readable_commit};

/// The repository of a project, with the proof that the caller may read it.
pub struct RepositoryRecord {
    pub project: Arc<ProjectRecord>,
    pub grant: Grant<ReadCode>,
}

pub(super) fn repository(project: Arc<ProjectRecord>, grant: Grant<ReadCode>) -> Value {
    Value::object("Repository", Arc::new(RepositoryRecord { project, grant }))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    branch_approvals::register(registry);
    registry
        .object::<RepositoryRecord>("Repository")
        .lookup("blobs", |record, arguments, context| async move {
            blob::list(&context, &record, &arguments).await
        })
        .reads_git("blobs")
        .lookup("branchNames", |record, arguments, context| async move {
            branch_names(&context, &record, &arguments).await
        })
        .cost("branchNames", 170)
        .lookup("codeOwnersPath", |record, arguments, context| async move {
            code_owners_path(&context, &record, arguments.maybe_text("ref")).await
        })
        .reads_git("codeOwnersPath")
        .lookup("commit", |record, arguments, context| async move {
            commit_of(&context, record.project.id(), &arguments.text("ref")?).await
        })
        .reads_git("commit")
        .lookup("commits", |record, arguments, context| async move {
            commits(&context, &record, &arguments).await
        })
        .reads_git("commits")
        .lookup("diskPath", |record, _, context| async move {
            Ok(disk_path(&context, &record.project).into())
        })
        .plain("empty", |record| record.project.facts.default_branch.is_none().into())
        .lookup("exists", |record, _, context| async move {
            Ok(context.forge.storage.exists(record.project.id()).into())
        })
        .lookup("paginatedTree", |record, arguments, context| async move {
            tree::pages(&context, &record, &arguments).await
        })
        .reads_git("paginatedTree")
        .plain("rootRef", |record| record.project.facts.default_branch.clone().into())
        .lookup("tree", |record, arguments, context| async move {
            tree::one(&context, &record, &arguments).await
        })
        .reads_git("tree");
    commit::register(registry);
    tree::register(registry);
    blob::register(registry);
    branch_rules::register(registry);
    mutations::register(registry);
}

/// The commit that a name means: the default branch's where there is none, or it is `HEAD`.
fn commit_named(
    reader: &Reader,
    project: &ProjectRecord,
    name: Option<&str>,
) -> kernel::Result<Option<Oid>> {
    match name {
        None | Some("" | "HEAD") => default_head(reader, &project.facts),
        Some(name) => find_commit(reader, name),
    }
}

/// The full name of a branch or tag, where the query says which of these it names.
fn qualified(arguments: &Arguments) -> Option<String> {
    let name = arguments.maybe_text("ref").filter(|name| !name.is_empty())?;
    Some(match arguments.maybe_enum("refType").as_deref() {
        Some("HEADS") => format!("refs/heads/{name}"),
        Some("TAGS") => format!("refs/tags/{name}"),
        _ => name,
    })
}

/// The name of a revision as addresses have it.
fn shown_name(project: &ProjectRecord, arguments: &Arguments) -> String {
    let given = arguments.maybe_text("ref").filter(|name| !name.is_empty() && name != "HEAD");
    given.or_else(|| project.facts.default_branch.clone()).unwrap_or_else(|| "HEAD".to_owned())
}

/// No more names are answered at once.
const NAME_LIMIT: i64 = 1_000;

async fn branch_names(
    context: &Context,
    record: &RepositoryRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let pattern = Pattern::new(&arguments.text("searchPattern")?);
    let (limit, offset) = (arguments.int("limit")?, arguments.int("offset")?);
    let limit = usize::try_from(limit.clamp(0, NAME_LIMIT)).unwrap_or(0);
    let offset = usize::try_from(offset.max(0)).unwrap_or(usize::MAX);
    let read = context.forge.git_read(record.grant.project(), move |reader| {
        let branches = reader.branches()?.into_iter();
        let names = branches.map(|branch| branch.name.short().into_owned());
        let names = names.filter(|name| pattern.matches(name)).skip(offset).take(limit);
        Ok(names.collect::<Vec<String>>())
    });
    Ok(visible(read.await)?.unwrap_or_default().into())
}

async fn code_owners_path(
    context: &Context,
    record: &RepositoryRecord,
    name: Option<String>,
) -> Result<Value, Failure> {
    let project = record.project.clone();
    let read = context.forge.git_read(record.grant.project(), move |reader| {
        match commit_named(reader, &project, name.as_deref())? {
            Some(commit) => code_owners::find(reader, commit),
            None => Ok(None),
        }
    });
    Ok(visible(read.await)?.flatten().map(|(path, _)| path).into())
}

/// Where the repository lies below the data folder, for administrators.
fn disk_path(context: &Context, project: &ProjectRecord) -> Option<String> {
    project.grant::<OperateProject>().ok()?;
    let folder = context.forge.storage.repository(project.id());
    let below = folder.as_path().strip_prefix(context.forge.data()).unwrap_or(folder.as_path());
    Some(below.with_extension("").to_string_lossy().into_owned())
}

async fn commits(
    context: &Context,
    record: &RepositoryRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let moment = |name: &str| {
        let text = arguments.maybe_text(name);
        text.map(|text| {
            Ts::parse(&text).ok_or_else(|| Failure::Message(format!("`{name}` is no moment")))
        })
        .transpose()
    };
    let filter = CommitFilter {
        source: Source::named(&arguments.text("ref")?).map_err(failure_of)?,
        path: None,
        since: moment("committedAfter")?,
        until: moment("committedBefore")?,
        first_parent: false,
        order: Order::CommitTime,
        author: arguments.maybe_text("author"),
    };
    let (answers, facts) = (context.forge.answers.clone(), record.project.facts.clone());
    let window = page.clone();
    let read = context.forge.git_read(record.grant.project(), move |reader| {
        NumberedList::read(&window, |request| {
            read::list(reader, &answers, &facts, &filter, request)
        })
    });
    let found = visible(read.await)?.unwrap_or_else(NumberedList::empty);
    Ok(found.connection(&page, |found| commit(record.project.clone(), found)).into())
}
