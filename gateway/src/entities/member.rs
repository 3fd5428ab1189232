//! A member of a project or group.

use kernel::{Ts, time::date_text};
use org::member::{Membership, State};
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
    #[schema(value_type = String)]
    membership_state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_using_seat: Option<bool>,
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
            membership_state: member.state,
            is_using_seat: None,
        }
    }

    /// Tells whether the member is counted where people are.
    pub fn with_seat(urls: &Urls, member: &Membership) -> Self {
        Self { is_using_seat: Some(member.is_using_seat()), ..Self::new(urls, member) }
    }
}
