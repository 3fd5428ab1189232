//! A member of a project or group.

use kernel::{Ts, time::date_text};
use org::member::Membership;
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;
use crate::app::Urls;

#[derive(Debug, Serialize, ToSchema)]
pub struct MemberEntity {
    #[serde(flatten)]
    user: BriefUser,
    access_level: i32,
    #[schema(value_type = String)]
    created_at: Ts,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<BriefUser>,
    expires_at: Option<String>,
    /// Only where the person shows it to everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    membership_state: &'static str,
}

impl MemberEntity {
    pub fn new(urls: &Urls, member: &Membership) -> Self {
        Self {
            user: BriefUser::new(urls, &member.user),
            access_level: member.access_level.number(),
            created_at: member.created_at,
            created_by: member.created_by.as_ref().map(|by| BriefUser::new(urls, by)),
            expires_at: member.expires_at.map(|end| date_text(end.date())),
            email: member.user.public_email.clone().filter(|email| !email.is_empty()),
            membership_state: "active",
        }
    }
}
