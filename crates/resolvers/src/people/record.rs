//! Users, as other records mention them.

use std::sync::Arc;

use entities::org::brief_user::BriefUser;
use forge::urls::Urls;
use graphql::{Failure, Value};
use kernel::ids::UserId;
use org::user::UserSummary;

use crate::context::Context;

/// A user, as other records mention one.
pub fn user(user: BriefUser) -> Value {
    Value::object("UserCore", Arc::new(user))
}

pub fn user_of(urls: &Urls, summary: &UserSummary) -> Value {
    user(BriefUser::of(urls, summary))
}

/// A user by id; null where there is none.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: UserId) -> Result<Value, Failure> {
    let found = context.loaders.users.load(id).await?;
    Ok(found.map_or(Value::Null, |found| user(BriefUser::new(&context.forge.urls, &found))))
}
