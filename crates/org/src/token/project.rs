//! Tokens of a project: each has a bot of its own, who is a member while the token lives.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Ts,
    ids::{ProjectId, TokenId},
    page::{Page, PageRequest},
};

use super::{
    AccessToken, Kind, Scope, Scopes, Secret,
    actions::{NewToken, faults_of, issue, renew, sentence},
    store::TokenStore,
};
use crate::{
    member::{
        actions::{self as membership, NewMember, Source},
        store::MemberStore,
    },
    policy::AskForProjectTokens,
    user::{
        actions::{NewUser, create},
        store::UserStore,
    },
};

/// A project token as it is asked for.
#[derive(Clone, Debug)]
pub struct NewProjectToken {
    pub name: String,
    pub scopes: Scopes,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
}

/// A token with its bot's level.
pub type Leveled = (AccessToken, AccessLevel);
type Asked = Grant<AskForProjectTokens>;

fn ensure_may_read(grant: &Asked) -> Result<()> {
    match grant.who().is(AccessLevel::Maintainer) {
        true => Ok(()),
        false => Err(Error::Unauthenticated),
    }
}

pub fn list(tx: &mut Tx<'_>, grant: &Asked, page: PageRequest) -> Result<Page<Leveled>> {
    ensure_may_read(grant)?;
    tx.project_tokens(grant.project(), page)
}

pub fn find(tx: &mut Tx<'_>, grant: &Asked, id: TokenId) -> Result<Option<Leveled>> {
    ensure_may_read(grant)?;
    tx.find_project_token(grant.project(), id)
}

/// Makes a bot, a membership and the token, in one go.
pub fn make(tx: &mut Tx<'_>, grant: &Asked, new: &NewProjectToken) -> Result<(Leveled, Secret)> {
    let caller = tx.user(grant.user()?)?;
    if caller.bot || !grant.who().writes(AccessLevel::Maintainer) {
        let text = "User does not have permission to create project access token";
        return Err(Error::BadRequest(text.to_owned()));
    }
    if new.access_level > grant.who().level {
        let text = "Access level of the token contains permissions not held by the creating user";
        return Err(Error::BadRequest(text.to_owned()));
    }
    let bot = NewUser { created_by: Some(caller.id), ..bot_of(grant.project(), &new.name) };
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
        return Err(Error::BadRequest(why));
    }
    let bot = create(tx, &bot)?;
    let member = NewMember {
        source: Source::Project(grant.project()),
        user_id: bot.id,
        access_level: new.access_level,
        expires_at: None,
        created_by: Some(caller.id),
    };
    membership::insert(tx, &member)?;
    token.user_id = bot.id;
    let (token, secret) = issue(tx, &token)?;
    Ok(((token, new.access_level), secret))
}

fn bot_of(project: ProjectId, name: &str) -> NewUser {
    let username = format!("project_{project}_bot_{}", hex::encode(rand::random::<[u8; 16]>()));
    NewUser {
        name: name.to_owned(),
        email: format!("{username}@noreply.localhost"),
        bot: true,
        ..NewUser::named(&username)
    }
}

/// Replaces a token; the bot stays. `None` where there is no such token.
pub fn rotate(
    tx: &mut Tx<'_>,
    grant: &Asked,
    id: TokenId,
    expires_at: Option<Ts>,
) -> Result<Option<(Leveled, Secret)>> {
    let Some((token, level)) = find(tx, grant, id)? else { return Ok(None) };
    let (renewed, secret) = renew(tx, &token, expires_at)?;
    Ok(Some(((renewed, level), secret)))
}

/// Revokes a token and takes its bot out of the project; false where there is no such token.
pub fn revoke(
    tx: &mut Tx<'_>,
    grant: &Asked,
    id: TokenId,
    unless_newer: Option<Ts>,
) -> Result<bool> {
    let project = grant.project();
    let Some((token, _)) = tx.find_project_token(project, id)? else { return Ok(false) };
    if !grant.who().is(AccessLevel::Maintainer) {
        let (caller, bot) = (tx.user(grant.user()?)?, tx.user(token.user_id)?);
        return Err(Error::BadRequest(format!("{} cannot delete {}", caller.name, bot.name)));
    }
    token.created_at.ensure_unchanged_since(unless_newer)?;
    tx.revoke_family(&token)?;
    tx.delete_member(Source::Project(project), token.user_id)?;
    crate::access::refresh_project_member(tx, project, token.user_id)?;
    Ok(true)
}
