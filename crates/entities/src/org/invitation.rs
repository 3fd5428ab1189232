//! An address that was invited, and how inviting went.

use std::collections::BTreeMap;

use kernel::{Ts, time::date_text};
use org::member::invitations::{InvitationWithAuthor, Outcome};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct InvitationEntity {
    access_level: i32,
    #[schema(value_type = String)]
    created_at: Ts,
    expires_at: Option<String>,
    invite_email: String,
    /// Digest of the invitation's token. The token itself is only in the e-mail.
    invite_token: String,
    created_by_name: Option<String>,
}

impl From<InvitationWithAuthor> for InvitationEntity {
    fn from((invitation, host): InvitationWithAuthor) -> Self {
        Self {
            access_level: invitation.access_level.number(),
            created_at: invitation.created_at,
            expires_at: invitation.expires_at.map(|end| date_text(end.date())),
            invite_email: invitation.email,
            invite_token: invitation.token_digest,
            created_by_name: host.map(|host| host.name),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct InvitedEntity {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<InvitationErrors>,
}

/// One error for all addresses, or one for each address.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum InvitationErrors {
    All(String),
    Each(BTreeMap<String, String>),
}

impl From<Outcome> for InvitedEntity {
    fn from(outcome: Outcome) -> Self {
        let message = match outcome {
            Outcome::Done => return Self { status: "success", message: None },
            Outcome::Refused(why) => InvitationErrors::All(why),
            Outcome::Partly(each) => InvitationErrors::Each(each.into_iter().collect()),
        };
        Self { status: "error", message: Some(message) }
    }
}
