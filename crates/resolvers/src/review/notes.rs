//! Notes and discussions.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use db::keyset::RowPosition;
use graphql::{Failure, Page, Registry, Value};
use kernel::{
    Ability as _, AccessLevel, Standing,
    ids::{NoteId, UserId},
};
use review::{
    emoji::AwardTarget,
    item::{Item, ItemKind},
    note::{Head, Note, NoteType},
    policy::{CreateIssues, DiscussEpics, TakePartInMergeRequests},
};

use super::{
    loaders::ReviewLoaders,
    note_values::{icon, position},
    records::ItemKey,
};
use crate::{
    context::Context,
    failure::failure_of,
    people, projects,
    values::{markdown, maybe_time, time},
    windowed_page::{CursorOrder, WindowedPage},
};

/// A note, and the item that it is about.
pub struct NoteRecord {
    pub note: Arc<Note>,
    pub key: ItemKey,
}

/// Notes that answer each other, and the item that they are about.
pub struct DiscussionRecord {
    pub id: String,
    pub key: ItemKey,
    /// The oldest first; only what the caller sees.
    pub notes: Vec<NoteId>,
}

pub fn note(note: Arc<Note>, key: ItemKey) -> Value {
    Value::object("Note", Arc::new(NoteRecord { note, key }))
}

pub fn discussion(record: DiscussionRecord) -> Value {
    Value::object("Discussion", Arc::new(record))
}

/// The class of a note in global ids.
pub fn class_of(note: &Note) -> &'static str {
    match note.note_type {
        None => "Note",
        Some(NoteType::Discussion) => "DiscussionNote",
        Some(NoteType::Diff) => "DiffNote",
    }
}

/// The class of an item in global ids.
fn class_of_item(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Issue => "Issue",
        ItemKind::MergeRequest => "MergeRequest",
        ItemKind::Epic => "Epic",
    }
}

async fn heads(context: &Context, key: ItemKey) -> Result<Arc<Vec<Head>>, Failure> {
    if context.actor().id.is_none() {
        return Ok(Arc::default());
    }
    Ok(ReviewLoaders::of(context).note_heads.load(key).await?.unwrap_or_default())
}

/// The notes of these ids that are still there, in this order.
async fn by_id(context: &Context, ids: &[NoteId]) -> Result<Vec<Arc<Note>>, Failure> {
    let loaders = ReviewLoaders::of(context);
    let mut found = Vec::with_capacity(ids.len());
    for one in futures_util::future::join_all(ids.iter().map(|id| loaders.notes.load(*id))).await {
        found.extend(one?);
    }
    Ok(found)
}

/// A page of an item's notes that the caller sees, oldest first.
///
/// # Errors
/// When the database failed.
pub async fn notes_of(context: &Context, key: ItemKey, page: &Page) -> Result<Value, Failure> {
    let ids: Vec<NoteId> = heads(context, key).await?.iter().map(|head| head.id).collect();
    page_of_notes(context, key, &ids, page).await
}

async fn page_of_notes(
    context: &Context,
    key: ItemKey,
    ids: &[NoteId],
    page: &Page,
) -> Result<Value, Failure> {
    let page = WindowedPage::new(page.clone(), CursorOrder::Id)?;
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows = page.read_ascending(&ids).map_err(failure_of)?;
    let notes = &ReviewLoaders::of(context).notes;
    let load = |id: i64| async move { Ok::<_, Failure>((id, notes.load(NoteId(id)).await?)) };
    let rows = rows.load_each(load).await?;
    let value = |(_, found): (i64, Option<Arc<Note>>)| found.map(|one| note(one, key)).into();
    Ok(page.connection(rows, |(id, _)| RowPosition::of_id(*id), value).into())
}

/// The discussions of an item that the caller sees, the oldest first.
async fn discussions(
    context: &Context,
    key: ItemKey,
) -> Result<Vec<Arc<DiscussionRecord>>, Failure> {
    let heads = heads(context, key).await?;
    let mut all: indexmap::IndexMap<&str, Vec<NoteId>> = indexmap::IndexMap::new();
    for head in heads.iter() {
        all.entry(head.discussion.as_str()).or_default().push(head.id);
    }
    let record = |(id, notes): (&str, Vec<NoteId>)| {
        Arc::new(DiscussionRecord { id: id.to_owned(), key, notes })
    };
    Ok(all.into_iter().map(record).collect())
}

/// A page of an item's discussions.
///
/// # Errors
/// When the database failed.
pub async fn discussions_of(
    context: &Context,
    key: ItemKey,
    page: &Page,
) -> Result<Value, Failure> {
    let page = WindowedPage::new(page.clone(), CursorOrder::Id)?;
    let all = discussions(context, key).await?;
    // A discussion stands where its first note does.
    let place = |one: &DiscussionRecord| one.notes.first().map_or(0, |note| note.0);
    let ids: Vec<i64> = all.iter().map(|one| place(one)).collect();
    let rows = page.read_ascending(&ids).map_err(failure_of)?;
    let by_first: HashMap<i64, Arc<DiscussionRecord>> =
        all.into_iter().map(|one| (place(&one), one)).collect();
    let value = |id: i64| {
        let found = by_first.get(&id).cloned();
        found.map(|one| Value::object("Discussion", one)).into()
    };
    Ok(page.connection(rows, |id| RowPosition::of_id(*id), value).into())
}

/// How many discussions people have about an item.
///
/// # Errors
/// When the database failed.
pub async fn count_discussions(context: &Context, key: ItemKey) -> Result<Value, Failure> {
    let heads = heads(context, key).await?;
    let said = heads.iter().filter(|head| !head.is_system).map(|head| head.discussion.as_str());
    Ok(said.collect::<HashSet<_>>().len().into())
}

/// How many comments on an item the caller sees.
///
/// # Errors
/// When the database failed.
pub async fn count_comments(context: &Context, key: ItemKey) -> Result<Value, Failure> {
    let heads = heads(context, key).await?;
    Ok(heads.iter().filter(|head| !head.is_system).count().into())
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["DiffPosition", "NotePermissions"]);
    note_fields(registry);
    registry
        .object::<DiscussionRecord>("Discussion")
        .plain("id", |one| Value::gid("Discussion", &one.id))
        .plain("replyId", |one| Value::gid("Discussion", &one.id))
        .lookup("createdAt", |one, _, context| async move {
            let first = by_id(&context, one.notes.get(..1).unwrap_or_default()).await?;
            Ok(first.first().map(|note| time(note.created_at)).into())
        })
        .lookup("notes", |one, arguments, context| async move {
            page_of_notes(&context, one.key, &one.notes, &arguments.page()?).await
        })
        .lookup("noteable", |one, _, context| async move { noteable(&context, one.key).await })
        .lookup("resolvable", |one, _, context| async move {
            let notes = by_id(&context, &one.notes).await?;
            Ok(notes.iter().any(|note| note.is_resolvable()).into())
        })
        .lookup("resolved", |one, _, context| async move {
            Ok(last_resolution(&context, &one).await?.is_some().into())
        })
        .lookup("resolvedAt", |one, _, context| async move {
            let last = last_resolution(&context, &one).await?;
            Ok(last.map(|note| maybe_time(note.resolved_at)).into())
        })
        .lookup("resolvedBy", |one, _, context| async move {
            match last_resolution(&context, &one).await?.and_then(|note| note.resolved_by_id) {
                Some(user) => people::of_id(&context, user).await,
                None => Ok(Value::Null),
            }
        });
}

fn note_fields(registry: &mut Registry<Context>) {
    registry
        .object::<NoteRecord>("Note")
        .plain("id", |one| Value::gid(class_of(&one.note), one.note.id))
        .plain("body", |one| one.note.body.as_str().into())
        .lookup("bodyHtml", |one, _, context| async move {
            markdown(&context.forge, Some(&one.note.body), one.note.project_id).await
        })
        .plain("confidential", |one| one.note.internal.into())
        .plain("internal", |one| one.note.internal.into())
        .plain("noteableId", |one| Value::gid(class_of_item(one.key.kind), one.key.id))
        .plain("noteableType", |one| class_of_item(one.key.kind).into())
        .plain("createdAt", |one| time(one.note.created_at))
        .plain("updatedAt", |one| time(one.note.updated_at))
        .plain("resolvable", |one| one.note.is_resolvable().into())
        .plain("resolved", |one| one.note.is_resolved().into())
        .plain("resolvedAt", |one| maybe_time(one.note.resolved_at))
        .plain("system", |one| one.note.is_system.into())
        .plain("systemNoteIconName", |one| {
            one.note.is_system.then(|| icon(&one.note.body)).flatten().into()
        })
        .plain("position", |one| one.note.position.as_deref().and_then(position).into())
        .lookup("author", |one, _, context| async move {
            people::of_id(&context, one.note.author_id).await
        })
        .lookup("resolvedBy", |one, _, context| async move {
            match one.note.resolved_by_id {
                Some(user) => people::of_id(&context, user).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("project", |one, _, context| async move {
            match one.note.project_id {
                Some(project) => projects::of_id(&context, project).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("discussion", |one, _, context| async move {
            let all = discussions(&context, one.key).await?;
            let found = all.into_iter().find(|found| found.id == one.note.discussion);
            Ok(found.map(|found| Value::object("Discussion", found)).into())
        })
        .lookup("awardEmoji", |one, arguments, context| async move {
            super::awards::of(&context, AwardTarget::from(one.note.id), &arguments.page()?).await
        })
        .lookup("url", |one, _, context| async move {
            let page = address(&context, one.key).await?;
            Ok(page.map(|page| format!("{page}#note_{}", one.note.id)).into())
        })
        .lookup(
            "userPermissions",
            |one, _, context| async move { permissions(&context, &one).await },
        );
}

/// The address of an item's page, where the caller may read the item.
async fn address(context: &Context, key: ItemKey) -> Result<Option<String>, Failure> {
    let loaders = ReviewLoaders::of(context);
    Ok(match key.kind {
        ItemKind::Issue => {
            let found = loaders.issues.load(kernel::ids::IssueId(key.id)).await?;
            found.map(|found| found.shown.web_url.clone())
        }
        ItemKind::MergeRequest => {
            let found = loaders.merge_requests.load(kernel::ids::MergeRequestId(key.id)).await?;
            found.map(|found| found.shown.web_url.clone())
        }
        ItemKind::Epic => {
            let found = loaders.epics.load(key.id).await?;
            found.map(|found| found.shown.web_url.clone())
        }
    })
}

/// The item that something belongs to, as a value; null where the caller may not read it.
///
/// # Errors
/// When the database failed.
pub async fn noteable(context: &Context, key: ItemKey) -> Result<Value, Failure> {
    match key.kind {
        ItemKind::Issue => {
            super::item_values::issue_of_id(context, kernel::ids::IssueId(key.id)).await
        }
        ItemKind::MergeRequest => {
            super::item_values::merge_request_of_id(context, kernel::ids::MergeRequestId(key.id))
                .await
        }
        ItemKind::Epic => super::item_values::epic_of_id(context, key.id).await,
    }
}

/// The note by which a discussion was settled last; nothing while it is open.
async fn last_resolution(
    context: &Context,
    one: &DiscussionRecord,
) -> Result<Option<Arc<Note>>, Failure> {
    let notes = by_id(context, &one.notes).await?;
    let mut resolvable = notes.into_iter().filter(|note| note.is_resolvable()).peekable();
    if resolvable.peek().is_none() {
        return Ok(None);
    }
    let all: Vec<Arc<Note>> = resolvable.collect();
    if !all.iter().all(|note| note.is_resolved()) {
        return Ok(None);
    }
    Ok(all.into_iter().max_by_key(|note| note.resolved_at))
}

/// How the caller stands where an item is.
pub async fn standing_at(context: &Context, key: ItemKey) -> Result<Option<Standing>, Failure> {
    let loaders = ReviewLoaders::of(context);
    match key.kind {
        ItemKind::Epic => loaders.group_standings.load(kernel::ids::NamespaceId(key.home)).await,
        ItemKind::Issue | ItemKind::MergeRequest => {
            loaders.standings.load(kernel::ids::ProjectId(key.home)).await
        }
    }
}

async fn permissions(context: &Context, one: &NoteRecord) -> Result<Value, Failure> {
    let user: Option<UserId> = context.actor().id;
    let who = standing_at(context, one.key).await?.filter(|_| user.is_some());
    let item: Option<Arc<Item>> = ReviewLoaders::of(context).items.load(one.key.item()).await?;
    let locked = item.as_ref().is_some_and(|item| item.locked);
    let may = |ability: fn(&Standing) -> bool| who.as_ref().is_some_and(ability);
    let speaks = match one.key.kind {
        ItemKind::Issue => may(CreateIssues::allows),
        ItemKind::MergeRequest => may(TakePartInMergeRequests::allows),
        ItemKind::Epic => may(DiscussEpics::allows),
    };
    let speaks = speaks && (!locked || may(|who| who.is(AccessLevel::Guest)));
    let own = user == Some(one.note.author_id);
    let changes =
        speaks && !one.note.is_system && (own || may(|who| who.is(AccessLevel::Maintainer)));
    let resolves = one.key.kind == ItemKind::MergeRequest
        && (user == Some(one.key.author) || may(|who| who.is(AccessLevel::Developer)));
    Ok(Value::fields(
        "NotePermissions",
        [
            ("adminNote", changes.into()),
            ("awardEmoji", (speaks && !one.note.is_system).into()),
            ("createNote", speaks.into()),
            ("readNote", true.into()),
            ("repositionNote", (changes && one.note.position.is_some()).into()),
            ("resolveNote", (resolves && one.note.is_resolvable()).into()),
        ],
    ))
}

/// The note of an id with its item, where the caller may read both.
///
/// # Errors
/// `NotFoundOrForbidden` for any other.
pub async fn readable(context: &Context, id: NoteId) -> Result<NoteRecord, Failure> {
    use review::note::NoteStore as _;
    let found = context.forge.db.read(move |tx| Ok(tx.notes_by_id(&[id])?.pop())).await;
    let note = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    let item = review::item::ItemId { kind: note.item_kind, id: note.item_id };
    let (item, _) = super::scope::readable_item(context, item).await?;
    let key = ItemKey::of(&item);
    match heads(context, key).await?.iter().any(|head| head.id == id) {
        true => Ok(NoteRecord { note: Arc::new(note), key }),
        false => Err(Failure::NotFoundOrForbidden),
    }
}
