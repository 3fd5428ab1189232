//! The shared fields of issues, merge requests and epics.

use std::sync::Arc;

use entities::org::brief_user::BriefUser;
use graphql::{Connection, Failure, Page, Value};
use kernel::ids::{ProjectId, UserId};
use review::label::Label;

use super::{loaders::ReviewLoaders, records::ItemKey};
use crate::{context::Context, labels, people};

pub fn tasks(count: i64, completed: i64) -> Value {
    let fields = [("count", count.into()), ("completedCount", completed.into())];
    Value::fields("TaskCompletionStatus", fields)
}

pub fn labels(page: &Page, found: Option<Arc<Vec<Label>>>) -> Result<Value, Failure> {
    let found = found.unwrap_or_default();
    Ok(Connection::of_list(page, found.iter().cloned().map(labels::label).collect()).into())
}

pub async fn subscribed(context: &Context, key: ItemKey) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).subscribed.load(key).await?;
    Ok(found.unwrap_or_default().into())
}

pub async fn participants(context: &Context, key: ItemKey, page: &Page) -> Result<Value, Failure> {
    let ids = participant_ids(context, key).await?;
    let users = users(context, &ids).await?;
    Ok(Connection::of_list(page, users.into_iter().map(people::user).collect()).into())
}

pub async fn participant_ids(context: &Context, key: ItemKey) -> Result<Vec<UserId>, Failure> {
    let found = ReviewLoaders::of(context).participants.load(key).await?;
    Ok(found.map(|ids| ids.to_vec()).unwrap_or_default())
}

/// People in the order of these ids; whoever is gone is left out.
pub async fn users(context: &Context, ids: &[UserId]) -> Result<Vec<BriefUser>, Failure> {
    let loads = ids.iter().map(|id| context.loaders.users.load(*id));
    let mut found = Vec::with_capacity(ids.len());
    for user in futures_util::future::join_all(loads).await {
        found.extend(user?.map(|user| BriefUser::new(&context.forge.urls, &user)));
    }
    Ok(found)
}

/// Whether a project is set to send no e-mail.
pub async fn sends_no_mail(context: &Context, project: ProjectId) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).settings.load(project).await?;
    Ok(found.is_some_and(|settings| settings.emails_disabled == Some(true)).into())
}
