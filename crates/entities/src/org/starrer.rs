//! Somebody who starred a project.

use forge::urls::Urls;
use kernel::Ts;
use org::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct Starrer {
    #[schema(value_type = String)]
    pub starred_since: Ts,
    pub user: BriefUser,
}

impl Starrer {
    pub fn new(urls: &Urls, starred_since: Ts, user: &User) -> Self {
        Self { starred_since, user: BriefUser::new(urls, user) }
    }
}
