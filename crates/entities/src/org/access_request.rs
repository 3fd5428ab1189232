//! Somebody who asked to become a member.

use forge::urls::Urls;
use kernel::Ts;
use org::member::requests::RequestWithUser;
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct AccessRequestEntity {
    #[serde(flatten)]
    user: BriefUser,
    #[schema(value_type = String)]
    requested_at: Ts,
}

impl AccessRequestEntity {
    pub fn new(urls: &Urls, (request, user): &RequestWithUser) -> Self {
        Self { user: BriefUser::new(urls, user), requested_at: request.created_at }
    }
}
