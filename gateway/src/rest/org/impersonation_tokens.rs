//! Tokens with which administrators act as somebody.

use entities::org::token::TokenEntity;
use kernel::{
    Ts,
    access::Administrate,
    ids::{TokenId, UserId},
};
use org::{
    token::{
        self, Activity, Kind, Scope, Scopes, TokenFilter, actions::NewToken, store::TokenStore,
    },
    user::store::UserStore,
};
use time::Date;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Impersonation tokens" at "/users/{user_id}/impersonation_tokens", also [ReadUser];
    GET    ""                           => list   : Administrate,
    POST   ""                           => create : Administrate,
    GET    "/{impersonation_token_id}"  => show   : Administrate,
    DELETE "/{impersonation_token_id}"  => revoke : Administrate,
}

kernel::text_enum! { enum TokenState { All = "all", Active = "active", Inactive = "inactive" } }
param_enums! { TokenState }

params! { struct ListTokens: paged { user_id: UserId, state: TokenState = TokenState::All } }
params! { struct OneToken { user_id: UserId, impersonation_token_id: TokenId } }
params! {
    struct CreateToken {
        user_id: UserId,
        name: String,
        scopes: Option<Csv<String>>,
        expires_at: Option<Date>,
    }
}

async fn list(app: App, call: Call<Administrate, ListTokens>) -> ApiResult<PagedList<TokenEntity>> {
    let (user_id, page) = (call.params.user_id, call.page);
    let activity = match call.params.state {
        TokenState::All => None,
        TokenState::Active => Some(Activity::Active),
        TokenState::Inactive => Some(Activity::Inactive),
    };
    let filter = TokenFilter {
        kinds: vec![Kind::Impersonation],
        user: Some(user_id),
        activity,
        ..TokenFilter::default()
    };
    let found = app.db.read(move |tx| {
        tx.user(user_id)?;
        Ok((tx.tokens(&filter, page)?, tx.now))
    });
    let (page, now) = found.await?;
    Ok(PagedList(page.map(|token| TokenEntity::new(&token, now))))
}

/// Scopes by their names; an unknown one is for the model to refuse.
fn scopes(words: Option<Csv<String>>) -> kernel::Result<Scopes> {
    let words = words.unwrap_or_default().0;
    let known: Option<Vec<Scope>> = words.iter().map(|word| kernel::TextEnum::find(word)).collect();
    let unknown = || kernel::Error::invalid("scopes", "can only contain available scopes");
    Ok(Scopes(known.ok_or_else(unknown)?))
}

async fn create(
    app: App,
    call: Call<Administrate, CreateToken>,
) -> ApiResult<Created<TokenEntity>> {
    let given = call.params;
    let made = app.db.write(move |tx| {
        let new = NewToken {
            user_id: tx.user(given.user_id)?.id,
            kind: Kind::Impersonation,
            name: given.name,
            scopes: scopes(given.scopes)?,
            expires_at: given.expires_at.map(Ts::from_date),
        };
        Ok((token::actions::issue_impersonation(tx, &call.grant, &new)?, tx.now))
    });
    let ((token, secret), now) = made.await?;
    Ok(Created(TokenEntity::new(&token, now).with_secret(&secret)))
}

async fn show(app: App, call: Call<Administrate, OneToken>) -> ApiResult<Json<TokenEntity>> {
    let OneToken { user_id, impersonation_token_id } = call.params;
    let found = app.db.peek(move |tx| {
        Ok((token::actions::impersonation(tx, user_id, impersonation_token_id)?, tx.now))
    });
    let (token, now) = found.await?;
    Ok(Json(TokenEntity::new(&token, now)))
}

async fn revoke(app: App, call: Call<Administrate, OneToken>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let OneToken { user_id, impersonation_token_id: id } = call.params;
    let done = app
        .db
        .write(move |tx| token::actions::revoke_impersonation(tx, &call.grant, user_id, id, since));
    done.await?;
    Ok(NoContent)
}
