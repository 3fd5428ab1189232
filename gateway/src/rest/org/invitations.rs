//! Invitations to projects and groups.

use entities::org::invitation::{InvitationEntity, InvitedEntity};
use kernel::{Error, Ts, ids::UserId, page::PageRequest};
use org::{
    member::{
        MemberSource,
        invitations::{self, Guests},
        quota::Quota,
        rules::Terms,
    },
    policy::{ManageGroupMembers, ManageProjectMembers},
};
use serde_json::Value;
use time::Date;

use super::member_params::{Level, end};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, Csv, Param, ParamErrors, Raw},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Invitations" at "";
    GET    "/projects/{id}/invitations"         => list_of_project     : ManageProjectMembers,
    POST   "/projects/{id}/invitations"         => invite_to_project   : ManageProjectMembers,
    PUT    "/projects/{id}/invitations/{email}" => change_in_project   : ManageProjectMembers,
    DELETE "/projects/{id}/invitations/{email}" => withdraw_in_project : ManageProjectMembers,
    GET    "/groups/{id}/invitations"           => list_of_group       : ManageGroupMembers,
    POST   "/groups/{id}/invitations"           => invite_to_group     : ManageGroupMembers,
    PUT    "/groups/{id}/invitations/{email}"   => change_in_group     : ManageGroupMembers,
    DELETE "/groups/{id}/invitations/{email}"   => withdraw_in_group   : ManageGroupMembers,
}

params! {
    pub struct Invite {
        /// Email addresses, separated by commas.
        email: Option<Csv<Address>>,
        /// User IDs, separated by commas.
        user_id: Option<Csv<UserId>>,
        access_level: Level,
        expires_at: Option<Date>,
        /// Accepted for compatibility and not stored.
        invite_source: String = "invitations-api".to_owned(),
    }
}
params! {
    struct ListInvitations: paged {
        /// Exact e-mail address.
        query: Option<String>,
    }
}
params! {
    struct ChangeInvitation {
        email: String,
        access_level: Option<Level>,
        expires_at: Change<Date>,
    }
}
params! { struct OneInvitation { email: String } }

impl Invite {
    fn guests(&mut self) -> Result<Guests, Error> {
        let emails = self.email.take().map(|emails| emails.0).unwrap_or_default();
        let emails: Vec<String> = emails.into_iter().map(|email| email.0).collect();
        let users = self.user_id.take().map(|users| users.0).unwrap_or_default();
        if emails.is_empty() && users.is_empty() {
            let text = "Must provide either email or user_id as a parameter";
            return Err(Error::bad_request().because(text.to_owned()));
        }
        Ok(Guests { emails, users })
    }

    fn terms(&self) -> Terms {
        Terms {
            level: self.access_level.0.number().into(),
            expires_at: self.expires_at.map(Ts::from_date),
        }
    }
}

/// What a letter can be addressed to.
#[derive(Clone, Debug)]
pub struct Address(String);

impl Param for Address {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let text = String::read(raw)?;
        match text {
            Some(text) if !is_address(&text) => {
                Err(ParamErrors::one("contains an invalid email address"))
            }
            text => Ok(text.map(Self)),
        }
    }

    fn schema() -> Value {
        String::schema()
    }
}

/// Whether a letter could be addressed so.
fn is_address(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.chars().any(|letter| {
                letter.is_whitespace() || letter.is_control() || "<>(),;:\\\"[]".contains(letter)
            })
    };
    text.chars().count() <= 255
        && text.rsplit_once('@').is_some_and(|(name, domain)| {
            plain(name) && !name.contains('@') && plain(domain) && domain.split('.').all(plain)
        })
}

async fn invited(
    app: &App,
    place: MemberSource,
    mut given: Invite,
) -> ApiResult<Created<InvitedEntity>> {
    let (guests, terms) = (given.guests()?, given.terms());
    let quota = Quota::of(app.limits.invites_per_day);
    let outcome = app.db.write(move |tx| invitations::invite(tx, place, &guests, terms, quota));
    Ok(Created(outcome.await?.into()))
}

async fn listed(
    app: &App,
    place: MemberSource,
    given: ListInvitations,
    page: PageRequest,
) -> ApiResult<PagedList<InvitationEntity>> {
    let listed =
        move |tx: &mut db::Tx<'_>| invitations::list(tx, place, given.query.as_deref(), page);
    Ok(PagedList(app.db.read(listed).await?.map(InvitationEntity::from)))
}

async fn changed(
    app: &App,
    place: MemberSource,
    given: ChangeInvitation,
) -> ApiResult<Json<InvitationEntity>> {
    if given.access_level.is_none() && given.expires_at == Change::Keep {
        return Err(Error::bad_request().into());
    }
    let changed = app.db.write(move |tx| {
        let level = given.access_level.map(|level| level.0);
        invitations::change(tx, place, &given.email, level, end(&given.expires_at))
    });
    changed.await?.map(|told| Json(told.into())).ok_or_else(|| Error::hidden().into())
}

async fn withdrawn(
    app: &App,
    place: MemberSource,
    email: String,
    since: Option<Ts>,
) -> ApiResult<NoContent> {
    match app.db.write(move |tx| invitations::withdraw(tx, place, &email, since)).await? {
        true => Ok(NoContent),
        false => Err(Error::hidden().into()),
    }
}

type ProjectInvitationCall<P> = Call<ManageProjectMembers, P>;
type GroupInvitationCall<P> = Call<ManageGroupMembers, P>;

async fn list_of_project(
    app: App,
    call: ProjectInvitationCall<ListInvitations>,
) -> ApiResult<PagedList<InvitationEntity>> {
    listed(&app, MemberSource::project(&call.grant), call.params, call.page).await
}

async fn invite_to_project(
    app: App,
    call: ProjectInvitationCall<Invite>,
) -> ApiResult<Created<InvitedEntity>> {
    invited(&app, MemberSource::project(&call.grant), call.params).await
}

async fn change_in_project(
    app: App,
    call: ProjectInvitationCall<ChangeInvitation>,
) -> ApiResult<Json<InvitationEntity>> {
    changed(&app, MemberSource::project(&call.grant), call.params).await
}

async fn withdraw_in_project(
    app: App,
    call: ProjectInvitationCall<OneInvitation>,
) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    withdrawn(&app, MemberSource::project(&call.grant), call.params.email, since).await
}

async fn list_of_group(
    app: App,
    call: GroupInvitationCall<ListInvitations>,
) -> ApiResult<PagedList<InvitationEntity>> {
    listed(&app, MemberSource::group(&call.grant), call.params, call.page).await
}

async fn invite_to_group(
    app: App,
    call: GroupInvitationCall<Invite>,
) -> ApiResult<Created<InvitedEntity>> {
    invited(&app, MemberSource::group(&call.grant), call.params).await
}

async fn change_in_group(
    app: App,
    call: GroupInvitationCall<ChangeInvitation>,
) -> ApiResult<Json<InvitationEntity>> {
    changed(&app, MemberSource::group(&call.grant), call.params).await
}

async fn withdraw_in_group(
    app: App,
    call: GroupInvitationCall<OneInvitation>,
) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    withdrawn(&app, MemberSource::group(&call.grant), call.params.email, since).await
}
