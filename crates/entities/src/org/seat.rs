//! Billable and pending members of a top-level group.

use forge::urls::Urls;
use kernel::{Ts, time::date_text};
use org::member::{
    Source, State,
    billable::{BillableMember, Kind, Seat},
    pending_members::PendingMember,
    rules::role,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct BillableEntity {
    #[serde(flatten)]
    user: BriefUser,
    /// Public e-mail address; administrators see the primary one.
    email: Option<String>,
    last_activity_on: Option<String>,
    #[schema(value_type = String)]
    membership_type: Kind,
    removable: bool,
    #[schema(value_type = String)]
    created_at: Ts,
    is_last_owner: bool,
    #[schema(value_type = Option<String>)]
    last_login_at: Option<Ts>,
    #[schema(value_type = String)]
    membership_state: State,
}

impl BillableEntity {
    /// `open` where the reader sees every address.
    pub fn new(urls: &Urls, counted: &BillableMember, open: bool) -> Self {
        let user = &counted.user;
        let public = || user.public_email.clone().filter(|email| !email.is_empty());
        Self {
            user: BriefUser::new(urls, user),
            email: if open { Some(user.email.clone()) } else { public() },
            last_activity_on: user.last_activity_at.map(|at| date_text(at.date())),
            membership_type: counted.kind,
            removable: counted.kind.is_removable(),
            created_at: user.created_at,
            is_last_owner: counted.is_last_owner,
            last_login_at: user.current_sign_in_at,
            membership_state: State::Active,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PendingEntity {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_url: Option<String>,
    invited: bool,
    avatar_url: Option<String>,
    approved: bool,
}

impl PendingEntity {
    pub fn new(urls: &Urls, pending: PendingMember) -> Self {
        let user = pending.user.as_ref().map(|user| BriefUser::new(urls, user));
        let invited = user.is_none();
        let (mut name, mut username, mut web_url, mut avatar_url) = (None, None, None, None);
        if let Some(user) = user {
            (name, username) = (Some(user.name), Some(user.username));
            (web_url, avatar_url) = (Some(user.web_url), user.avatar_url);
        }
        let (email, approved) = (pending.email, pending.approved);
        Self { id: pending.id, name, username, email, web_url, invited, avatar_url, approved }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SeatEntity {
    id: i64,
    source_id: i64,
    source_full_name: String,
    source_members_url: String,
    #[schema(value_type = String)]
    created_at: Ts,
    expires_at: Option<String>,
    access_level: NamedLevel,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NamedLevel {
    string_value: &'static str,
    integer_value: i32,
}

impl SeatEntity {
    pub fn new(urls: &Urls, seat: Seat) -> Self {
        let (source_id, page) = match seat.member.source() {
            Source::Project(id) => (id.0, format!("{}/-/project_members", seat.full_path)),
            Source::Group(id) => (id.0, format!("groups/{}/-/group_members", seat.full_path)),
        };
        let level = seat.member.level();
        Self {
            id: seat.member.id.0,
            source_id,
            source_full_name: seat.full_name,
            source_members_url: urls.at(&page),
            created_at: seat.member.created_at,
            expires_at: seat.member.expires_at.map(|end| date_text(end.date())),
            access_level: NamedLevel { string_value: role(level), integer_value: level.number() },
        }
    }
}
