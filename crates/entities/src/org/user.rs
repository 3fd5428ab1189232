//! People, in as much detail as the reader may have.

use forge::urls::Urls;
use kernel::Ts;
use org::user::{
    State, User,
    model::{ExternalIdentity, FullUser},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{brief_user::BriefUser, custom_attribute::CustomAttributeEntity};

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Anonymous,
    /// Somebody who is neither the person nor an administrator.
    Other,
    /// The person, or an administrator.
    Privileged,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SingleUser {
    #[serde(flatten)]
    brief: BriefUser,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    created_at: Option<Ts>,
    bio: String,
    bot: bool,
    location: Option<String>,
    public_email: Option<String>,
    skype: String,
    linkedin: String,
    twitter: String,
    website_url: String,
    organization: String,
    job_title: String,
    pronouns: Option<String>,
    work_information: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    followers: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    following: Option<i64>,
    local_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_followed: Option<bool>,
}

impl SingleUser {
    pub fn new(urls: &Urls, full: &FullUser, reader: Reader) -> Self {
        let (user, profile) = (&full.user, &full.profile);
        let hidden = user.private_profile || user.state.is_blocked() || user.confirmed_at.is_none();
        let shown = reader == Reader::Privileged || !hidden;
        Self {
            brief: BriefUser::new(urls, user),
            created_at: shown.then_some(user.created_at),
            bio: profile.bio.clone(),
            bot: user.bot,
            location: profile.location.clone(),
            public_email: user.public_email.clone(),
            skype: profile.skype.clone(),
            linkedin: profile.linkedin.clone(),
            twitter: profile.twitter.clone(),
            website_url: profile.website_url.clone(),
            organization: profile.organization.clone(),
            job_title: profile.job_title.clone(),
            pronouns: profile.pronouns.clone(),
            work_information: profile.work_information(),
            followers: shown.then_some(full.followers),
            following: shown.then_some(full.following),
            local_time: None,
            is_followed: (shown && reader != Reader::Anonymous).then_some(full.is_followed),
        }
    }
}

/// An identity at an external provider that signs in as this user.
#[derive(Debug, Serialize, ToSchema)]
pub struct IdentityEntity {
    provider: String,
    extern_uid: String,
    saml_provider_id: Option<i64>,
}

impl From<&ExternalIdentity> for IdentityEntity {
    fn from(identity: &ExternalIdentity) -> Self {
        Self {
            provider: identity.provider.clone(),
            extern_uid: identity.extern_uid.clone(),
            saml_provider_id: identity.saml_provider_id,
        }
    }
}

/// Result of approving or rejecting a sign-up.
#[derive(Debug, Serialize, ToSchema)]
pub struct Success {
    message: &'static str,
}

impl Default for Success {
    fn default() -> Self {
        Self { message: "Success" }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OwnUser {
    #[serde(flatten)]
    single: SingleUser,
    #[schema(value_type = Option<String>)]
    last_sign_in_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    confirmed_at: Option<Ts>,
    last_activity_on: Option<String>,
    email: String,
    theme_id: i64,
    color_scheme_id: i64,
    projects_limit: i64,
    #[schema(value_type = Option<String>)]
    current_sign_in_at: Option<Ts>,
    identities: Vec<IdentityEntity>,
    can_create_group: bool,
    can_create_project: bool,
    two_factor_enabled: bool,
    external: bool,
    private_profile: bool,
    commit_email: String,
    shared_runners_minutes_limit: Option<i64>,
    extra_shared_runners_minutes_limit: Option<i64>,
}

impl OwnUser {
    pub fn new(urls: &Urls, full: &FullUser) -> Self {
        let (user, profile) = (&full.user, &full.profile);
        Self {
            single: SingleUser::new(urls, full, Reader::Privileged),
            last_sign_in_at: user.last_sign_in_at,
            confirmed_at: user.confirmed_at,
            last_activity_on: user.last_activity_at.map(|at| kernel::time::date_text(at.date())),
            email: user.email.clone(),
            theme_id: profile.theme_id,
            color_scheme_id: profile.color_scheme_id,
            projects_limit: user.projects_limit,
            current_sign_in_at: user.current_sign_in_at,
            identities: full.identities.iter().map(IdentityEntity::from).collect(),
            can_create_group: user.can_create_group || user.admin,
            can_create_project: user.projects_limit > 0,
            two_factor_enabled: full.account.two_factor,
            external: user.external,
            private_profile: user.private_profile,
            commit_email: user.git_email(&urls.private_mail_host()),
            shared_runners_minutes_limit: full.account.shared_runners_minutes_limit,
            extra_shared_runners_minutes_limit: full.account.extra_shared_runners_minutes_limit,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AdminUser {
    #[serde(flatten)]
    own: OwnUser,
    is_admin: bool,
    note: Option<String>,
    namespace_id: Option<i64>,
    created_by: Option<BriefUser>,
    current_sign_in_ip: Option<String>,
    last_sign_in_ip: Option<String>,
    is_auditor: bool,
    using_license_seat: bool,
    provisioned_by_group_id: Option<i64>,
    sign_in_count: i64,
    /// Always null: there are no paid plans.
    plan: Option<String>,
    trial: Option<bool>,
    /// Present when `with_custom_attributes` is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<Vec<CustomAttributeEntity>>,
}

impl AdminUser {
    pub fn new(urls: &Urls, full: &FullUser) -> Self {
        let user: &User = &full.user;
        Self {
            own: OwnUser::new(urls, full),
            is_admin: user.admin,
            note: user.note.clone(),
            namespace_id: full.namespace_id.map(|id| id.0),
            created_by: full.created_by.as_ref().map(|by| BriefUser::new(urls, by)),
            current_sign_in_ip: full.account.current_sign_in_ip.clone(),
            last_sign_in_ip: full.account.last_sign_in_ip.clone(),
            is_auditor: full.account.auditor,
            using_license_seat: user.state == State::Active && user.is_person(),
            provisioned_by_group_id: full.account.provisioned_by_group_id,
            sign_in_count: user.sign_in_count,
            plan: None,
            trial: Some(false),
            custom_attributes: None,
        }
    }
}
