//! A member of a project or group.

use forge::urls::Urls;
use kernel::{Ts, ids::UserId, time::date_text};
use org::{
    member::{Membership, State, sign_in::Identities},
    user::model::ExternalIdentity,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;

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
    /// Public e-mail address; present if the user has set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// SAML identity of the member. For owners of a group with SAML single sign-on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<GroupIdentityEntity>)]
    group_saml_identity: Option<Option<GroupIdentityEntity>>,
    #[schema(value_type = String)]
    membership_state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_using_seat: Option<bool>,
}

/// SAML identity of a group member.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupIdentityEntity {
    extern_uid: String,
    provider: String,
    saml_provider_id: Option<i64>,
}

impl From<&ExternalIdentity> for GroupIdentityEntity {
    fn from(identity: &ExternalIdentity) -> Self {
        Self {
            extern_uid: identity.extern_uid.clone(),
            provider: identity.provider.clone(),
            saml_provider_id: identity.saml_provider_id,
        }
    }
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
            group_saml_identity: None,
            membership_state: member.state,
            is_using_seat: None,
        }
    }

    /// Tells whether the member is counted where people are.
    pub fn with_seat(urls: &Urls, member: &Membership) -> Self {
        Self { is_using_seat: Some(member.is_using_seat()), ..Self::new(urls, member) }
    }

    /// With the account elsewhere, where the reader is told of these.
    #[must_use]
    pub fn signing_in_by(self, identities: Option<&Identities>) -> Self {
        let own = |all: &Identities| all.get(&UserId(self.user.id)).map(GroupIdentityEntity::from);
        Self { group_saml_identity: identities.map(own), ..self }
    }
}
