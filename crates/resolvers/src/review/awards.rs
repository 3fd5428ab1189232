//! Reactions to issues, merge requests, epics and notes.

use std::sync::Arc;

use entities::review::award_emoji::AwardEntity;
use graphql::{Connection, Failure, Page, Registry, Value};
use review::emoji::{AwardTarget, details};

use super::loaders::ReviewLoaders;
use crate::{context::Context, people};

/// A page of the reactions to something that the caller sees, oldest first.
///
/// # Errors
/// When the database failed.
pub async fn of(context: &Context, target: AwardTarget, page: &Page) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).awards.load(target).await?.unwrap_or_default();
    let values = found.iter().cloned().map(award).collect();
    Ok(Connection::of_list(page, values).into())
}

pub fn award(award: Arc<AwardEntity>) -> Value {
    Value::object("AwardEmoji", award)
}

/// As in `1f44d`, and `1f468-200d-1f469` where it is made of several.
fn code_points(emoji: &str) -> String {
    let points = emoji.chars().map(|sign| format!("{:04x}", u32::from(sign)));
    points.collect::<Vec<_>>().join("-")
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<AwardEntity>("AwardEmoji")
        .plain("name", |one| one.name.as_str().into())
        .plain("description", |one| {
            details(&one.name).map_or(one.name.as_str(), |known| known.description).into()
        })
        .plain("emoji", |one| details(&one.name).map_or("", |known| known.emoji).into())
        .plain("unicode", |one| {
            details(&one.name).map(|known| code_points(known.emoji)).unwrap_or_default().into()
        })
        .plain("unicodeVersion", |one| {
            details(&one.name).map(|known| known.unicode_version).unwrap_or_default().into()
        })
        .plain("user", |one| one.user.clone().map(people::user).into());
}
