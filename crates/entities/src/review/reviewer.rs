//! Somebody who is asked to look at a merge request.

use std::collections::HashMap;

use forge::urls::Urls;
use kernel::{Ts, ids::UserId};
use org::user::User;
use review::merge_request::{ReviewState, Reviewer};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReviewerEntity {
    pub user: BriefUser,
    #[schema(value_type = String)]
    pub state: ReviewState,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

impl ReviewerEntity {
    /// Nobody for an account that is gone.
    pub fn new(urls: &Urls, reviewer: &Reviewer, users: &HashMap<UserId, User>) -> Option<Self> {
        Some(Self {
            user: BriefUser::new(urls, users.get(&reviewer.user_id)?),
            state: reviewer.state,
            created_at: reviewer.created_at,
        })
    }
}
