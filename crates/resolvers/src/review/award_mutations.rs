//! Reactions that people give and take back.

use std::sync::Arc;

use entities::review::award_emoji::AwardEntity;
use forge::ports::directory::Directory;
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Error, error::Kind, ids::NoteId};
use review::{emoji::actions as emoji, item::ItemId};

use super::{
    awards::award,
    notes,
    records::ItemKey,
    scope::{self, kind_of},
    speaker::{CommentGrant, comment_grant, with_grant},
};
use crate::{context::Context, failure::failure_of};

/// The change of a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    Add,
    Remove,
    Toggle,
}

pub(super) fn register(registry: &mut Registry<Context>) {
    for (name, what) in [
        ("awardEmojiAdd", Reaction::Add),
        ("awardEmojiRemove", Reaction::Remove),
        ("awardEmojiToggle", Reaction::Toggle),
    ] {
        registry.mutation(name, move |input, context| async move {
            react(&context, &input, what).await
        });
    }
}

async fn react(context: &Context, input: &Arguments, what: Reaction) -> Result<Payload, Failure> {
    context.signed_in()?;
    let (class, id) = input.any_gid("awardableId")?;
    let id: i64 = id.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    let (item, note) = match class.ends_with("Note") {
        true => {
            let found = notes::readable(context, NoteId(id)).await?;
            (found.key.item(), Some(found.note.id))
        }
        false => (ItemId { kind: kind_of(&class).ok_or(Failure::NotFoundOrForbidden)?, id }, None),
    };
    let (item, _) = scope::readable_item(context, item).await?;
    let name = input.text("name")?;
    let (iid, urls) = (item.iid, context.forge.urls.clone());
    let directory = Directory::new(&urls);
    let kept = with_grant!(comment_grant(context, ItemKey::of(&item)).await?, |grant| {
        let work = move |tx: &mut db::Tx<'_>| {
            let takes_back = match what {
                Reaction::Add => false,
                Reaction::Remove => true,
                Reaction::Toggle => emoji::is_given(tx, &grant, &directory, iid, note, &name)?,
            };
            let changed = match takes_back {
                true => emoji::remove_named(tx, &grant, &directory, iid, note, &name)?,
                false => emoji::create(tx, &grant, &directory, iid, note, &name)?,
            };
            Ok((AwardEntity::one(tx, &urls, changed)?, !takes_back))
        };
        context.forge.db.write(work).await
    });
    let payload = match kept {
        Ok((changed, is_on)) => {
            let shown = is_on.then(|| award(Arc::new(changed)));
            Payload::new().field("awardEmoji", shown).field("toggledOn", is_on)
        }
        Err(error) if error.is_gone() => {
            Payload::errors(vec![refusal(&error)]).field("toggledOn", false)
        }
        Err(error) if error.kind == Kind::Forbidden => return Err(Failure::NotFoundOrForbidden),
        Err(error) => return Err(failure_of(error)),
    };
    Ok(payload)
}

/// What the REST API says in the form of a 404, as a sentence.
fn refusal(error: &Error) -> String {
    let text = error.to_string();
    let text = text.strip_suffix(" not found").unwrap_or(&text);
    match text.strip_prefix("Award Emoji ").filter(|text| !text.is_empty()) {
        Some(said) => said.to_owned(),
        None => "Award emoji not found".to_owned(),
    }
}
