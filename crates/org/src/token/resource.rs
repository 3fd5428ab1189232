//! Tokens of projects and groups: each has a bot of its own, who is a member while the token lives.

use std::collections::BTreeMap;

use db::{
    Tx, each_backend, error,
    schema::{members, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId, TokenId, UserId},
    page::{Page, PageRequest},
};

use super::{
    AccessToken, Activity, Kind, Scope, Scopes, Secret, TokenFilter, TokenOrder,
    actions::{NewToken, faults_of, issue, replace, sentence},
    store::TokenStore,
};
use crate::{
    access,
    member::{MemberSource, NewMember, Source, steps, store::MemberStore},
    user::{
        actions::{NewUser, create},
        store::UserStore,
    },
};

/// A token of a project or group as it is asked for.
#[derive(Clone, Debug)]
pub struct NewResourceToken {
    pub name: String,
    pub scopes: Scopes,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
}

const ABOVE: &str = "Not eligible to rotate token with access level higher than the user";

/// A token with its bot's level.
pub type TokenWithLevel = (AccessToken, AccessLevel);

fn ensure_may_read(place: &MemberSource) -> Result<()> {
    match place.may_manage() {
        true => Ok(()),
        false => Err(Error::unauthenticated()),
    }
}

/// The bots that are members here, with their levels.
fn bots(tx: &mut Tx<'_>, source: Source) -> Result<BTreeMap<UserId, AccessLevel>> {
    let (project, group) = source.columns();
    let (project, group) = (project.unwrap_or(ProjectId(0)), group.unwrap_or(NamespaceId(0)));
    let query = members::table
        .inner_join(users::table)
        .filter(members::project_id.eq(project).or(members::namespace_id.eq(group)))
        .filter(users::bot.eq(true))
        .select((members::user_id, members::access_level));
    let found: Vec<(UserId, AccessLevel)> =
        each_backend!(tx, |conn| query.load(conn).map_err(error("Token")))?;
    Ok(found.into_iter().collect())
}

/// The tokens of the bots that are members here; a filter may narrow them.
pub fn list(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    filter: TokenFilter,
    page: PageRequest,
) -> Result<Page<TokenWithLevel>> {
    ensure_may_read(place)?;
    let bots = bots(tx, place.source)?;
    let theirs = TokenFilter {
        kinds: vec![Kind::Resource],
        users: Some(bots.keys().copied().collect()),
        ..filter
    };
    let level = |user: &UserId| bots.get(user).copied().unwrap_or_default();
    Ok(tx.tokens(&theirs, page)?.map(|token| {
        let level = level(&token.user_id);
        (token, level)
    }))
}

pub fn find(tx: &mut Tx<'_>, place: &MemberSource, id: TokenId) -> Result<Option<TokenWithLevel>> {
    ensure_may_read(place)?;
    find_here(tx, place.source, id)
}

fn find_here(tx: &mut Tx<'_>, source: Source, id: TokenId) -> Result<Option<TokenWithLevel>> {
    let found = tx.find_token_by_id(id)?.filter(|token| token.kind == Kind::Resource);
    let Some(token) = found else { return Ok(None) };
    let level = bots(tx, source)?.get(&token.user_id).copied();
    Ok(level.map(|level| (token, level)))
}

/// The newest token of a project or group that works.
pub fn newest(tx: &mut Tx<'_>, source: Source) -> Result<Option<AccessToken>> {
    let filter = TokenFilter {
        kinds: vec![Kind::Resource],
        users: Some(bots(tx, source)?.into_keys().collect()),
        activity: Some(Activity::Active),
        order: Some(TokenOrder::CreatedDescending),
        ..TokenFilter::default()
    };
    Ok(tx.tokens(&filter, PageRequest { page: 1, per_page: 1 })?.items.pop())
}

fn refused(text: impl Into<String>) -> Error {
    Error::bad_request().because(text)
}

/// Makes a bot, a membership and the token, in one go.
pub fn make(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    new: &NewResourceToken,
) -> Result<(TokenWithLevel, Secret)> {
    let caller = tx.user(place.actor().user()?)?;
    let word = place.source.word();
    if caller.bot || !place.may_manage() || place.is_archived() {
        return Err(refused(format!(
            "User does not have permission to create {word} access token"
        )));
    }
    if new.access_level > place.level() {
        return Err(refused(
            "Access level of the token contains permissions not held by the creating user",
        ));
    }
    let mut token = NewToken {
        user_id: caller.id,
        kind: Kind::Resource,
        name: new.name.clone(),
        scopes: new.scopes.clone(),
        expires_at: new.expires_at,
    };
    let mut faults = faults_of(&token);
    if new.scopes.0.iter().any(|scope| matches!(scope, Scope::Sudo | Scope::AdminMode)) {
        faults.add("scopes", "can only contain available scopes");
    }
    if let Some(why) = sentence(faults) {
        return Err(refused(why));
    }
    access::lock_access_projection(tx)?;
    // Nobody sees more through a bot than they may themselves.
    let bot = NewUser {
        created_by: Some(caller.id),
        external: caller.external && !caller.admin,
        ..bot_of(place.source, &new.name)
    };
    let bot = create(tx, &bot)?;
    let member = NewMember {
        source: place.source,
        user_id: bot.id,
        access_level: new.access_level,
        expires_at: None,
        created_by: Some(caller.id),
    };
    steps::insert(tx, &member)?;
    token.user_id = bot.id;
    let (token, secret) = issue(tx, &token)?;
    let created =
        AuditRecord::addition("resource_access_token_created", home(place), "access_token");
    record(tx, &token, created.detail("scopes", token.scopes().to_string()));
    Ok(((token, new.access_level), secret))
}

fn home(place: &MemberSource) -> AuditPlace {
    match place.source {
        Source::Project(project) => AuditPlace::Project(project),
        Source::Group(group) => AuditPlace::Group(group),
    }
}

fn record(tx: &mut Tx<'_>, token: &AccessToken, action: AuditRecord) {
    tx.mention(action.target("PersonalAccessToken", token.id.0, &token.name));
}

fn bot_of(source: Source, name: &str) -> NewUser {
    let owner = match source {
        Source::Project(id) => format!("project_{id}"),
        Source::Group(id) => format!("group_{id}"),
    };
    let username = format!("{owner}_bot_{}", hex::encode(rand::random::<[u8; 16]>()));
    NewUser {
        name: name.to_owned(),
        email: format!("{username}@noreply.localhost"),
        bot: true,
        ..NewUser::named(&username)
    }
}

/// Replaces a token; the bot stays. Whoever reads the new secret has what it opens, so nobody gets one above
/// themselves. `None` where there is no such token.
pub fn rotate(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    id: TokenId,
    expires_at: Option<Ts>,
) -> Result<Option<(TokenWithLevel, Secret)>> {
    let Some((token, level)) = find(tx, place, id)? else { return Ok(None) };
    let actor = place.actor();
    let wider = actor.external && !actor.admin && !tx.user(token.user_id)?.external;
    if level > place.level() || wider {
        return Err(Error::bad_request().whole(ABOVE));
    }
    let (renewed, secret) = replace(tx, &token, expires_at)?;
    let rotated = AuditRecord::change("resource_access_token_rotated", home(place), "access_token");
    record(tx, &renewed, rotated);
    Ok(Some(((renewed, level), secret)))
}

/// Revokes a token and takes its bot out; false where there is no such token.
pub fn revoke(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    id: TokenId,
    unless_newer: Option<Ts>,
) -> Result<bool> {
    let Some((token, _)) = find_here(tx, place.source, id)? else { return Ok(false) };
    if !place.may_manage() {
        let (caller, bot) = (tx.user(place.actor().user()?)?, tx.user(token.user_id)?);
        return Err(refused(format!("{} cannot delete {}", caller.name, bot.name)));
    }
    token.created_at.ensure_unchanged_since(unless_newer)?;
    access::lock_access_projection(tx)?;
    tx.revoke_family(&token)?;
    let revoked =
        AuditRecord::removal("resource_access_token_deleted", home(place), "access_token");
    record(tx, &token, revoked);
    tx.delete_member(place.source, token.user_id)?;
    match place.source {
        Source::Project(id) => access::refresh_project_member(tx, id, token.user_id)?,
        Source::Group(id) => access::refresh_group_member(tx, id, token.user_id)?,
    }
    Ok(true)
}
