//! To-do items.

use std::sync::Arc;

use db::keyset::RowPosition;
use forge::ports::directory::Directory;
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{
    Actor, TextEnum as _,
    error::Kind,
    ids::{NamespaceId, NoteId, ProjectId, TodoId, UserId},
};
use review::{
    item::{Item, ItemId, ItemKind},
    policy::{CreateIssues, DiscussEpics, TakePartInMergeRequests},
    todo::{
        Todo, TodoAction, TodoState,
        actions::{self, TodoFilter},
    },
};

use super::{
    loaders::ReviewLoaders,
    notes,
    records::{ItemKey, TodoRecord},
    scope::{self, ITEMS, Target, kind_of},
};
use crate::{
    context::Context,
    failure::failure_of,
    groups, people, projects,
    values::time,
    windowed_page::{CursorOrder, WindowedPage},
};

fn todo(record: Arc<TodoRecord>) -> Value {
    Value::object("Todo", record)
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.query().lookup("todo", |_, arguments, context| async move {
        let (id, actor) = (TodoId(arguments.gid("id", &["Todo"])?), context.actor());
        if actor.id.is_none() {
            return Ok(Value::Null);
        }
        let directory = Directory::new(&context.forge.urls);
        let found = context.forge.db.read(move |tx| actions::find(tx, &directory, actor, id)).await;
        let found: Vec<Todo> = found.map_err(failure_of)?.into_iter().collect();
        Ok(shown(&context, found).await?.pop().map(todo).into())
    });
    registry
        .object::<TodoRecord>("Todo")
        .plain("id", |one| Value::gid("Todo", one.row.id))
        .plain("action", |one| one.row.action.to_string().into())
        .plain("state", |one| one.row.state.to_string().into())
        .plain("body", |one| one.shown.body.as_str().into())
        .plain("createdAt", |one| time(one.row.created_at))
        .plain("author", |one| one.shown.author.clone().map(people::user).into())
        .plain("targetType", |one| {
            match one.row.item_kind {
                ItemKind::Issue => "ISSUE",
                ItemKind::MergeRequest => "MERGEREQUEST",
                ItemKind::Epic => "EPIC",
            }
            .into()
        })
        .lookup("project", |one, _, context| async move {
            match one.row.project_id {
                Some(project) => projects::of_id(&context, project).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("group", |one, _, context| async move {
            match one.row.namespace_id {
                Some(group) => groups::of_id(&context, group).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("target", |one, _, context| async move {
            let item = ReviewLoaders::of(&context).items.load(one.row.item()).await?;
            match item {
                Some(item) => notes::noteable(&context, ItemKey::of(&item)).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("note", |one, _, context| async move { note_of(&context, &one.row).await });
    register_mutations(registry);
}

async fn note_of(context: &Context, row: &Todo) -> Result<Value, Failure> {
    let Some(id) = row.note_id else { return Ok(Value::Null) };
    let loaders = ReviewLoaders::of(context);
    let Some(item) = loaders.items.load(row.item()).await? else { return Ok(Value::Null) };
    let key = ItemKey::of(&item);
    let heads = loaders.note_heads.load(key).await?.unwrap_or_default();
    if !heads.iter().any(|head| head.id == id) {
        return Ok(Value::Null);
    }
    Ok(loaders.notes.load(id).await?.map(|note| notes::note(note, key)).into())
}

/// The caller's to-dos about an item.
///
/// # Errors
/// When the database failed.
pub async fn about(
    context: &Context,
    key: ItemKey,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let wanted = arguments.maybe_enum("state").as_deref().and_then(TodoState::find);
    let found = ReviewLoaders::of(context).todos.load(key).await?.unwrap_or_default();
    let fitting = found.iter().filter(|one| wanted.is_none_or(|state| one.row.state == state));
    let values = fitting.cloned().map(todo).collect();
    Ok(Connection::of_list(&arguments.page()?, values).into())
}

/// The caller's to-dos about an item, of those that the arguments choose; the pending ones where they name no state.
///
/// # Errors
/// For ids of other things.
pub async fn chosen_of(
    context: &Context,
    item: ItemId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let (page, filter) = (arguments.page()?, filter(arguments)?);
    let loaders = ReviewLoaders::of(context);
    let (Some(filter), Some(item)) = (filter, loaders.items.load(item).await?) else {
        return Ok(Connection::empty().into());
    };
    let found = loaders.todos.load(ItemKey::of(&item)).await?.unwrap_or_default();
    let values = found.iter().filter(|one| filter.fits(&one.row)).cloned().map(todo).collect();
    Ok(Connection::of_list(&page, values).into())
}

/// Asks the caller to look at an item; where they are asked already, that to-do is the answer.
///
/// # Errors
/// `NotFoundOrForbidden` where they may not read the item or say anything there.
pub async fn ask(context: &Context, item: ItemId) -> Result<Value, Failure> {
    let (item, _) = scope::readable_item(context, item).await?;
    create(context, item).await.map(todo)
}

/// The to-dos of a user, who sees nobody's but their own.
///
/// # Errors
/// For ids of other things.
pub async fn of_user(
    context: &Context,
    user: UserId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let (page, actor) = (WindowedPage::new(arguments.page()?, CursorOrder::Id)?, context.actor());
    let Some(filter) = filter(arguments)?.filter(|_| actor.id == Some(user)) else {
        return Ok(Connection::empty().into());
    };
    let (directory, urls) = (Directory::new(&context.forge.urls), context.forge.urls.clone());
    let (asked, counts) = (page.clone(), arguments.counts());
    let found = context.forge.db.read(move |tx| {
        let rows = asked.read(counts, |window, part| {
            actions::list_in(tx, &directory, actor, &filter, window, part)
        })?;
        rows.try_map_all(|rows| TodoRecord::all(tx, &urls, actor, rows))
    });
    let found = found.await.map_err(failure_of)?;
    let position = |one: &TodoRecord| RowPosition::of_id(one.row.id.0);
    Ok(page.connection(found, position, |one| todo(Arc::new(one))).into())
}

/// What is asked for; nothing where there can be none: nobody is asked to look at some kinds of things.
fn filter(arguments: &Arguments) -> Result<Option<TodoFilter>, Failure> {
    let types = arguments.maybe_texts("type");
    let kinds: Vec<ItemKind> = types.iter().flatten().filter_map(|name| kind(name)).collect();
    if types.is_some_and(|types| !types.is_empty()) && kinds.is_empty() {
        return Ok(None);
    }
    let filter = TodoFilter {
        actions: arguments
            .texts("action")
            .iter()
            .filter_map(|name| TodoAction::find(name))
            .collect(),
        authors: numbers(arguments, "authorId", "User")?.into_iter().map(UserId).collect(),
        projects: numbers(arguments, "projectId", "Project")?.into_iter().map(ProjectId).collect(),
        groups: numbers(arguments, "groupId", "Group")?.into_iter().map(NamespaceId).collect(),
        states: arguments.texts("state").iter().filter_map(|name| TodoState::find(name)).collect(),
        kinds,
    };
    Ok(Some(filter))
}

fn kind(name: &str) -> Option<ItemKind> {
    match name {
        "ISSUE" | "WORKITEM" => Some(ItemKind::Issue),
        "MERGEREQUEST" => Some(ItemKind::MergeRequest),
        "EPIC" => Some(ItemKind::Epic),
        _ => None,
    }
}

/// Ids that may be plain numbers.
fn numbers(arguments: &Arguments, name: &str, class: &str) -> Result<Vec<i64>, Failure> {
    let read = |text: &String| match text.parse::<i64>() {
        Ok(number) => Ok(number),
        Err(_) => graphql::number_of(text, &[class]),
    };
    arguments.texts(name).iter().map(read).collect()
}

fn register_mutations(registry: &mut Registry<Context>) {
    registry.mutation("todoCreate", |input, context| async move {
        let made = create(&context, target(&context, &input, "targetId").await?).await?;
        Ok(Payload::new().field("todo", todo(made)))
    });
    registry.mutation("todoMarkDone", |input, context| async move {
        let (id, actor) = (TodoId(input.gid("id", &["Todo"])?), person(&context)?);
        let directory = Directory::new(&context.forge.urls);
        let done = context.forge.db.write(move |tx| actions::finish(tx, &directory, actor, id));
        shown(&context, vec![done.await.map_err(failure_of)?]).await.map(one)
    });
    registry.mutation("todoRestore", |input, context| async move {
        let ids = vec![TodoId(input.gid("id", &["Todo"])?)];
        restore(&context, ids).await.map(one)
    });
    registry.mutation("todoRestoreMany", |input, context| async move {
        let ids = input.gids("ids", &["Todo"])?;
        if ids.len() > MOST_RESTORED {
            return Err(Failure::message("Too many to-do items requested."));
        }
        restore(&context, ids.into_iter().map(TodoId).collect()).await.map(many)
    });
    registry.mutation("todosMarkAllDone", |input, context| async move {
        let actor = person(&context)?;
        let about = match input.maybe_text("targetId") {
            Some(_) => Some(target(&context, &input, "targetId").await?.id),
            None => None,
        };
        let directory = Directory::new(&context.forge.urls);
        let done =
            context.forge.db.write(move |tx| actions::finish_all(tx, &directory, actor, about));
        shown(&context, done.await.map_err(failure_of)?).await.map(many)
    });
}

const MOST_RESTORED: usize = 50;

fn person(context: &Context) -> Result<Actor, Failure> {
    context.signed_in()?;
    Ok(context.actor())
}

fn one(mut found: Vec<Arc<TodoRecord>>) -> Payload {
    Payload::new().field("todo", found.pop().map(todo))
}

fn many(found: Vec<Arc<TodoRecord>>) -> Payload {
    Payload::new().field("todos", Value::list(found.into_iter().map(todo)))
}

async fn shown(context: &Context, rows: Vec<Todo>) -> Result<Vec<Arc<TodoRecord>>, Failure> {
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| TodoRecord::all(tx, &urls, actor, rows)).await;
    Ok(found.map_err(failure_of)?.into_iter().map(Arc::new).collect())
}

async fn restore(context: &Context, ids: Vec<TodoId>) -> Result<Vec<Arc<TodoRecord>>, Failure> {
    let (actor, directory) = (person(context)?, Directory::new(&context.forge.urls));
    let restored =
        context.forge.db.write(move |tx| actions::restore(tx, &directory, actor, &ids)).await;
    shown(context, restored.map_err(failure_of)?).await
}

/// The item that a to-do is or is to be about; that of a note where a note is named.
async fn target(context: &Context, input: &Arguments, name: &str) -> Result<Item, Failure> {
    context.signed_in()?;
    let (class, id) = input.any_gid(name)?;
    let id: i64 = id.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    if class.ends_with("Note") {
        let note = notes::readable(context, NoteId(id)).await?;
        return Ok(scope::readable_item(context, note.key.item()).await?.0);
    }
    let kind = kind_of(&class).filter(|_| ITEMS.contains(&class.as_str()));
    let kind = kind.ok_or(Failure::NotFoundOrForbidden)?;
    Ok(scope::readable_item(context, ItemId { kind, id }).await?.0)
}

async fn create(context: &Context, item: Item) -> Result<Arc<TodoRecord>, Failure> {
    let target = Target::of(&item);
    let iid = target.iid;
    let made = match (target.kind, target.home) {
        (ItemKind::Issue, review::Home::Project(project)) => {
            let grant = scope::grant_in::<CreateIssues>(context, project).await?;
            context.forge.db.write(move |tx| actions::create(tx, &grant, iid)).await
        }
        (ItemKind::MergeRequest, review::Home::Project(project)) => {
            let grant = scope::grant_in::<TakePartInMergeRequests>(context, project).await?;
            context.forge.db.write(move |tx| actions::create(tx, &grant, iid)).await
        }
        (ItemKind::Epic, review::Home::Group(group)) => {
            let grant = scope::group_grant_in::<DiscussEpics>(context, group).await?;
            context.forge.db.write(move |tx| actions::create(tx, &grant, iid)).await
        }
        _ => return Err(Failure::NotFoundOrForbidden),
    };
    let row = match made {
        Err(refused) if refused.kind == Kind::Unchanged => {
            // It is asked already: that one is the answer.
            let user = context.actor().user().map_err(failure_of)?;
            let id = item.id;
            let known = context.forge.db.read(move |tx| {
                use review::todo::TodoStore as _;
                let asked = tx.todos_about(user, id.kind, &[id.id])?;
                Ok(asked.into_iter().find(|one| one.state == TodoState::Pending))
            });
            known.await.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?
        }
        made => made.map_err(failure_of)?,
    };
    shown(context, vec![row]).await?.pop().ok_or(Failure::NotFoundOrForbidden)
}
