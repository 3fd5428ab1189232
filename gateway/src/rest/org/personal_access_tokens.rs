//! Personal access tokens, those of other people for administrators.

use db::Tx;
use entities::org::token::TokenEntity;
use kernel::{
    Actor, Error, Ts,
    access::{Administrate, SignedIn},
    ids::{TokenId, UserId},
    page::Page,
};
use org::{
    token::{
        self, AccessToken, Activity, Kind, Scope, Scopes, TokenFilter, TokenOrder,
        actions::NewToken, store::TokenStore,
    },
    user::store::UserStore,
};
use time::Date;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, Csv, NonEmpty},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Personal access tokens" at "";
    GET    "/personal_access_tokens"               => list   : SignedIn,
    GET    "/personal_access_tokens/{id}"          => show   : SignedIn,
    DELETE "/personal_access_tokens/{id}"          => revoke : SignedIn,
    POST   "/personal_access_tokens/{id}/rotate"   => rotate : SignedIn,
    POST   "/users/{user_id}/personal_access_tokens" => create : Administrate,
    POST   "/user/personal_access_tokens"            => create_own : SignedIn,
}

param_enums! { Activity, TokenOrder }

params! {
    struct ListTokens: paged {
        user_id: Change<UserId>,
        revoked: Option<bool>,
        state: Option<Activity>,
        search: Option<String>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        last_used_after: Option<Ts>,
        last_used_before: Option<Ts>,
        expires_after: Option<Date>,
        expires_before: Option<Date>,
        sort: Option<TokenOrder>,
    }
}
params! { struct OneToken { id: TokenId } }
params! { struct RotateToken { id: TokenId, expires_at: Option<Date> } }
params! {
    struct CreateToken {
        user_id: UserId,
        name: NonEmpty,
        scopes: Csv<Scope>,
        expires_at: Option<Date>,
    }
}

kernel::text_enum! {
    /// What a token may be for that its holder makes without a page.
    enum OwnScope { K8sProxy = "k8s_proxy", SelfRotate = "self_rotate" }
}
param_enums! { OwnScope }

params! {
    struct CreateOwn {
        name: NonEmpty,
        scopes: Csv<OwnScope>,
        expires_at: Option<Date>,
    }
}

/// Whose tokens are listed; `None` where an administrator names nobody who is there.
fn listed_user(
    tx: &mut Tx<'_>,
    actor: Actor,
    wanted: &Change<UserId>,
) -> kernel::Result<Option<Option<UserId>>> {
    match *wanted {
        Change::Keep if actor.admin => Ok(Some(None)),
        Change::Keep => Ok(Some(actor.id)),
        Change::Set(id) if actor.admin => Ok(tx.find_user(id)?.map(|user| Some(user.id))),
        Change::Clear if actor.admin => Ok(None),
        Change::Set(id) if actor.id == Some(id) => Ok(Some(actor.id)),
        Change::Set(_) | Change::Clear => Err(Error::unauthenticated()),
    }
}

impl ListTokens {
    fn filter(self, actor: Actor, user: Option<UserId>) -> TokenFilter {
        let kinds = match actor.admin {
            true => vec![Kind::Personal, Kind::Impersonation, Kind::Resource],
            false => vec![Kind::Personal, Kind::Resource],
        };
        TokenFilter {
            kinds,
            user,
            users: None,
            revoked: self.revoked,
            activity: self.state,
            search: self.search.filter(|term| !term.is_empty()),
            created_after: self.created_after,
            created_before: self.created_before,
            last_used_after: self.last_used_after,
            last_used_before: self.last_used_before,
            expires_after: self.expires_after.map(Ts::from_date),
            expires_before: self.expires_before.map(Ts::from_date),
            order: self.sort,
        }
    }
}

async fn list(app: App, call: Call<SignedIn, ListTokens>) -> ApiResult<PagedList<TokenEntity>> {
    let (actor, page) = (call.grant.actor(), call.page);
    let found: Option<(Page<AccessToken>, Ts)> = app
        .db
        .read(move |tx| {
            let wanted = &call.params.user_id;
            let Some(user) = listed_user(tx, actor, wanted)? else { return Ok(None) };
            Ok(Some((tx.tokens(&call.params.filter(actor, user), page)?, tx.now)))
        })
        .await?;
    let (page, now) = found.ok_or_else(Error::hidden)?;
    Ok(PagedList(page.map(|token| TokenEntity::new(&token, now))))
}

async fn show(app: App, call: Call<SignedIn, OneToken>) -> ApiResult<Json<TokenEntity>> {
    let found = app.db.peek(move |tx| {
        Ok((token::actions::find_visible(tx, &call.grant, call.params.id)?, tx.now))
    });
    let (token, now) = found.await?;
    Ok(Json(TokenEntity::new(&token.ok_or_else(Error::hidden)?, now)))
}

async fn revoke(app: App, call: Call<SignedIn, OneToken>) -> ApiResult<NoContent> {
    app.db.write(move |tx| token::actions::revoke(tx, &call.grant, call.params.id)).await?;
    Ok(NoContent)
}

async fn rotate(app: App, call: Call<SignedIn, RotateToken>) -> ApiResult<Json<TokenEntity>> {
    let RotateToken { id, expires_at } = call.params;
    let expires_at = expires_at.map(Ts::from_date);
    let done = app
        .db
        .write(move |tx| Ok((token::actions::rotate(tx, &call.grant, id, expires_at)?, tx.now)));
    let (rotated, now) = done.await?;
    let (token, secret) = rotated.ok_or_else(Error::hidden)?;
    Ok(Json(TokenEntity::new(&token, now).with_secret(&secret)))
}

async fn create(
    app: App,
    call: Call<Administrate, CreateToken>,
) -> ApiResult<Created<TokenEntity>> {
    let given = call.params;
    let new = NewToken {
        user_id: given.user_id,
        kind: Kind::Personal,
        name: given.name.0,
        scopes: Scopes(given.scopes.0),
        expires_at: given.expires_at.map(Ts::from_date),
    };
    let made = app
        .db
        .write(move |tx| Ok((token::actions::issue_personal(tx, &call.grant, &new)?, tx.now)));
    let ((token, secret), now) = made.await?;
    Ok(Created(TokenEntity::new(&token, now).with_secret(&secret)))
}

async fn create_own(app: App, call: Call<SignedIn, CreateOwn>) -> ApiResult<Created<TokenEntity>> {
    let (user_id, given) = (call.grant.user()?, call.params);
    let scopes = given.scopes.0.into_iter().map(|scope| match scope {
        OwnScope::K8sProxy => Scope::K8sProxy,
        OwnScope::SelfRotate => Scope::SelfRotate,
    });
    let new = NewToken {
        user_id,
        kind: Kind::Personal,
        name: given.name.0,
        scopes: Scopes(scopes.collect()),
        expires_at: given.expires_at.map(Ts::from_date),
    };
    let made =
        app.db.write(move |tx| Ok((token::actions::issue_own(tx, &call.grant, &new)?, tx.now)));
    let ((token, secret), now) = made.await?;
    Ok(Created(TokenEntity::new(&token, now).with_secret(&secret)))
}
