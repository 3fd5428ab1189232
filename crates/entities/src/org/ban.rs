//! Somebody who is locked out of a group.

use forge::urls::Urls;
use kernel::Ts;
use org::namespace::banned_members::LockedOut;
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct NamespaceBanEntity {
    #[serde(flatten)]
    user: BriefUser,
    #[schema(value_type = String)]
    banned_at: Ts,
}

impl NamespaceBanEntity {
    pub fn new(urls: &Urls, (user, since): &LockedOut) -> Self {
        Self { user: BriefUser::new(urls, user), banned_at: *since }
    }
}
