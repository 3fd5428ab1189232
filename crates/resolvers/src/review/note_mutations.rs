//! Saying something, and changing it.

use std::sync::Arc;

use forge::{
    merge_request::diff_notes::ensure_shown,
    ports::directory::Directory,
    quick_actions::{DiscussionAbility, Sender},
};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Error, Grant, Result as Kept, ids::NoteId};
use review::{
    item::{Item, ItemId, ItemKind, ParticipationGrant},
    note::{
        NoteStore as _,
        actions::{self, NewNote, NoteResult, NoteTarget},
        image_place::{self, ImagePlace},
        position::{Position, PositionType},
        resolution,
    },
};

use super::{
    notes::{self, DiscussionRecord, NoteRecord},
    records::ItemKey,
    scope::{self, ITEMS, kind_of},
    speaker::{CommentGrant, comment_grant, with_grant},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
};

type Answer = Result<Payload, Failure>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("createDiscussion", |input, context| async move {
        let target = NoteTarget::Thread { position: None, commit_id: None };
        create(&context, &input, target).await
    });
    registry.mutation("createDiffNote", |input, context| async move {
        on_diff(&context, &input, PositionType::Text).await
    });
    registry.mutation("createImageDiffNote", |input, context| async move {
        on_diff(&context, &input, PositionType::Image).await
    });
    registry.mutation("updateNote", |input, context| async move { update(&context, &input).await });
    registry.mutation("updateImageDiffNote", |input, context| async move {
        update_on_image(&context, &input).await
    });
    registry
        .mutation("destroyNote", |input, context| async move { destroy(&context, &input).await });
    registry.mutation("discussionToggleResolve", |input, context| async move {
        toggle_resolve(&context, &input).await
    });
}

fn discussion_id(gid: &str) -> Result<String, Failure> {
    let (class, id) = graphql::parse_gid(gid)?;
    match class.ends_with("Discussion") {
        true => Ok(id),
        false => {
            Err(Failure::Message(format!("\"{gid}\" does not represent an instance of Discussion")))
        }
    }
}

/// The item that the input names, if the caller may read it.
async fn noteable(context: &Context, input: &Arguments) -> Result<Item, Failure> {
    context.signed_in()?;
    let (class, id) = input.any_gid("noteableId")?;
    let kind = kind_of(&class).filter(|_| ITEMS.contains(&class.as_str()));
    let kind = kind.ok_or(Failure::NotFoundOrForbidden)?;
    let id = id.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    Ok(scope::readable_item(context, ItemId { kind, id }).await?.0)
}

/// Says something of an item, or answers in a discussion.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller may not speak there.
pub async fn create_note(context: &Context, input: &Arguments) -> Answer {
    let target = match input.maybe_text("discussionId") {
        None => NoteTarget::Alone,
        Some(id) => NoteTarget::Reply(discussion_id(&id)?),
    };
    create(context, input, target).await
}

pub(super) async fn create(context: &Context, input: &Arguments, place: NoteTarget) -> Answer {
    let item = noteable(context, input).await?;
    let caller = context.signed_in()?;
    context.rates.check_note(caller).map_err(failure_of)?;
    let new = NewNote {
        body: input.text("body")?,
        internal: input.flag("internal") || input.flag("confidential"),
        created_at: None,
        place,
    };
    let seen = input.maybe_text("mergeRequestDiffHeadSha").filter(|sha| !sha.is_empty());
    let key = ItemKey::of(&item);
    let said = with_grant!(comment_grant(context, key).await?, |grant| {
        say(context, &grant, item.iid, new, seen.as_deref()).await
    });
    answer(key, said)
}

/// Says something, and does all that its quick actions want.
async fn say<A>(
    context: &Context,
    grant: &Grant<A>,
    iid: i64,
    new: NewNote,
    seen: Option<&str>,
) -> Kept<NoteResult>
where
    A: DiscussionAbility,
    Grant<A>: ParticipationGrant,
{
    let (asked, directory) = (grant.clone(), Directory::new(&context.forge.urls));
    let made = context.forge.db.write(move |tx| actions::create(tx, &asked, &directory, iid, &new));
    let sender = Sender { grant, caller: context.caller()?, seen };
    A::finish(&context.forge, &sender, made.await?).await
}

/// The note; none where only quick actions were sent.
fn answer(key: ItemKey, said: Kept<NoteResult>) -> Answer {
    Ok(match done(said.map_err(plain))? {
        Ok(said) => {
            let note = said.note.map(|note| notes::note(Arc::new(note), key));
            Payload::new().field("note", note)
        }
        Err(errors) => Payload::errors(errors),
    })
}

/// What the REST API says of a field of a note in its own words, as sentences.
fn plain(error: Error) -> Error {
    match rest_texts(&error.to_string()) {
        Some((field, texts)) => Error::bad_request().fields(vec![(field, texts)]),
        None => error,
    }
}

/// The field and the texts of `Note {:note=>["can't be blank"]}`.
fn rest_texts(text: &str) -> Option<(String, Vec<String>)> {
    let (field, texts) = text.strip_prefix("Note {:")?.strip_suffix('}')?.split_once("=>")?;
    Some((field.to_owned(), serde_json::from_str(texts).ok()?))
}

async fn on_diff(context: &Context, input: &Arguments, position_type: PositionType) -> Answer {
    let item = noteable(context, input).await?;
    let project = match (item.id.kind, item.project()) {
        (ItemKind::MergeRequest, Some(project)) => project,
        _ => return Err(Failure::NotFoundOrForbidden),
    };
    let given = input.object("position").ok_or(Failure::NotFoundOrForbidden)?;
    let paths = given.object("paths");
    let path = |name: &str| {
        let text = paths.as_ref().and_then(|paths| paths.maybe_text(name));
        text.filter(|path| !path.is_empty())
    };
    let number = |name: &str| given.maybe_int(name).and_then(|at| i32::try_from(at).ok());
    let start_sha = given.text("startSha")?;
    let position = Position {
        base_sha: given.maybe_text("baseSha").unwrap_or_else(|| start_sha.clone()),
        start_sha,
        head_sha: given.text("headSha")?,
        old_path: path("oldPath").or_else(|| path("newPath")),
        new_path: path("newPath").or_else(|| path("oldPath")),
        position_type,
        old_line: given.maybe_int("oldLine"),
        new_line: given.maybe_int("newLine"),
        line_range: None,
        width: given.maybe_int("width"),
        height: given.maybe_int("height"),
        x: number("x").map(f64::from),
        y: number("y").map(f64::from),
    };
    if let Err(errors) =
        done(ensure_shown(&context.forge, project, &position).await.map_err(plain))?
    {
        return Ok(Payload::errors(errors));
    }
    let position = serde_json::to_string(&position).map_err(Failure::internal)?;
    let place = NoteTarget::Thread { position: Some(position), commit_id: None };
    create(context, input, place).await
}

/// The note that the input names, with the item it is about, and what it takes to speak about that.
async fn note_named(
    context: &Context,
    input: &Arguments,
) -> Result<(NoteRecord, Item, CommentGrant), Failure> {
    context.signed_in()?;
    let id = input.gid("id", &["Note", "DiffNote", "DiscussionNote"])?;
    let found = notes::readable(context, NoteId(id)).await?;
    let (item, _) = scope::readable_item(context, found.key.item()).await?;
    let speaker = comment_grant(context, found.key).await?;
    Ok((found, item, speaker))
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let (found, item, speaker) = note_named(context, input).await?;
    let Some(body) = input.maybe_text("body") else {
        return Ok(Payload::new().field("note", notes::note(found.note, found.key)));
    };
    let said = with_grant!(speaker, |grant| {
        change(context, &grant, item.iid, found.note.id, body).await
    });
    answer(found.key, said)
}

/// Moves a note on an image, and says something else there, as far as the input names either.
async fn update_on_image(context: &Context, input: &Arguments) -> Answer {
    let place = input.object("position").map(|given| {
        let number = |name: &str| given.maybe_int(name).and_then(|at| i32::try_from(at).ok());
        ImagePlace {
            width: given.maybe_int("width"),
            height: given.maybe_int("height"),
            x: number("x").map(f64::from),
            y: number("y").map(f64::from),
        }
    });
    if place.is_none() && input.maybe_text("body").is_none() {
        return Err(Failure::message("body or position arguments are required"));
    }
    let Some(place) = place else { return update(context, input).await };
    let (found, item, speaker) = note_named(context, input).await?;
    let id = (item.iid, found.note.id);
    let directory = Directory::new(&context.forge.urls);
    let moved = with_grant!(speaker, |grant| {
        let work =
            move |tx: &mut db::Tx<'_>| image_place::move_note(tx, &grant, &directory, id, place);
        context.forge.db.write(work).await
    });
    match done(moved)? {
        Ok(_) if input.maybe_text("body").is_some() => update(context, input).await,
        Ok(note) => Ok(Payload::new().field("note", notes::note(Arc::new(note), found.key))),
        Err(errors) => Ok(Payload::errors(errors)),
    }
}

async fn change<A>(
    context: &Context,
    grant: &Grant<A>,
    iid: i64,
    id: NoteId,
    body: String,
) -> Kept<NoteResult>
where
    A: DiscussionAbility,
    Grant<A>: ParticipationGrant,
{
    let (asked, directory) = (grant.clone(), Directory::new(&context.forge.urls));
    let changed =
        context.forge.db.write(move |tx| actions::update(tx, &asked, &directory, iid, id, &body));
    let sender = Sender { grant, caller: context.caller()?, seen: None };
    A::finish(&context.forge, &sender, changed.await?).await
}

async fn destroy(context: &Context, input: &Arguments) -> Answer {
    let (found, item, speaker) = note_named(context, input).await?;
    let (id, directory) = (found.note.id, Directory::new(&context.forge.urls));
    let removed = with_grant!(speaker, |grant| {
        let work =
            move |tx: &mut db::Tx<'_>| actions::remove(tx, &grant, &directory, item.iid, id, None);
        context.forge.db.write(work).await
    });
    Ok(match done(removed)? {
        Ok(()) => Payload::new().field("note", Value::Null),
        Err(errors) => Payload::errors(errors),
    })
}

async fn toggle_resolve(context: &Context, input: &Arguments) -> Answer {
    context.signed_in()?;
    let id = discussion_id(&input.text("id")?)?;
    let (wanted, resolved) = (id.clone(), input.flag("resolve"));
    let found = context.forge.db.read(move |tx| tx.item_of_discussion(&wanted)).await;
    let item = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    let (item, _) = scope::readable_item(context, item).await?;
    let key = ItemKey::of(&item);
    let CommentGrant::MergeRequest(grant) = comment_grant(context, key).await? else {
        return Err(Failure::NotFoundOrForbidden);
    };
    let directory = Directory::new(&context.forge.urls);
    let kept = context.forge.db.write(move |tx| {
        resolution::resolve_discussion(tx, &grant, &directory, item.iid, &id, resolved)
    });
    Ok(match done(kept.await)? {
        Ok((_, thread)) => {
            let ids = thread.notes.iter().map(|note| note.id).collect();
            let record = DiscussionRecord { id: thread.id, key, notes: ids };
            Payload::new().field("discussion", notes::discussion(record))
        }
        Err(errors) => Payload::errors(errors),
    })
}
