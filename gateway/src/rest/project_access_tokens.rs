//! Tokens of a project.

use kernel::{AccessLevel, Error, Ts, ids::TokenId};
use org::{
    policy::AskForProjectTokens,
    token::{
        Scope, Scopes,
        project::{self, Leveled, NewProjectToken},
    },
};
use time::Date;

use crate::{
    app::App,
    entities::token::{ProjectTokenEntity, TokenEntity},
    error::ApiResult,
    extract::{Call, Csv, Filled},
    params,
    present::{Created, Json, Listed, NoContent},
    routes,
};

routes! { "Project access tokens" at "/projects/{id}/access_tokens";
    GET    ""                    => list_tokens   : AskForProjectTokens,
    POST   ""                    => create_token : AskForProjectTokens,
    GET    "/{token_id}"         => show_token   : AskForProjectTokens,
    DELETE "/{token_id}"         => revoke_token : AskForProjectTokens,
    POST   "/{token_id}/rotate"  => rotate_token : AskForProjectTokens,
}

params! { struct ListTokens: paged {} }
params! { struct OneToken { token_id: TokenId } }
params! { struct RotateToken { token_id: TokenId, expires_at: Option<Date> } }
params! {
    struct CreateToken {
        name: Filled,
        scopes: Csv<Scope>,
        access_level: super::member_params::Level = super::member_params::Level(AccessLevel::Maintainer),
        expires_at: Option<Date>,
    }
}

type Asked<P> = Call<AskForProjectTokens, P>;

fn absent() -> Error {
    Error::NotFound("project Access Token")
}

async fn list_tokens(app: App, call: Asked<ListTokens>) -> ApiResult<Listed<ProjectTokenEntity>> {
    let (page, id) = (call.page, call.grant.project());
    let found = app.db.read(move |tx| Ok((project::list(tx, &call.grant, page)?, tx.now)));
    let (page, now) = found.await?;
    Ok(Listed(
        page.map(|(token, level)| {
            ProjectTokenEntity::new(TokenEntity::new(&token, now), level, id)
        }),
    ))
}

async fn show_token(app: App, call: Asked<OneToken>) -> ApiResult<Json<ProjectTokenEntity>> {
    let (id, token_id) = (call.grant.project(), call.params.token_id);
    let found = app.db.read(move |tx| Ok((project::find(tx, &call.grant, token_id)?, tx.now)));
    let (found, now): (Option<Leveled>, Ts) = found.await?;
    let (token, level) = found.ok_or_else(absent)?;
    Ok(Json(ProjectTokenEntity::new(TokenEntity::new(&token, now), level, id)))
}

async fn create_token(
    app: App,
    call: Asked<CreateToken>,
) -> ApiResult<Created<ProjectTokenEntity>> {
    let (id, given) = (call.grant.project(), call.params);
    let new = NewProjectToken {
        name: given.name.0,
        scopes: Scopes(given.scopes.0),
        access_level: given.access_level.0,
        expires_at: given.expires_at.map(Ts::from_date),
    };
    let made = app.db.write(move |tx| Ok((project::make(tx, &call.grant, &new)?, tx.now)));
    let (((token, level), secret), now) = made.await?;
    let shown = TokenEntity::new(&token, now).with_secret(&secret);
    Ok(Created(ProjectTokenEntity::new(shown, level, id)))
}

async fn revoke_token(app: App, call: Asked<OneToken>) -> ApiResult<NoContent> {
    let (since, token_id) = (call.unmodified_since(), call.params.token_id);
    match app.db.write(move |tx| project::revoke(tx, &call.grant, token_id, since)).await? {
        true => Ok(NoContent),
        false => Err(absent().into()),
    }
}

async fn rotate_token(app: App, call: Asked<RotateToken>) -> ApiResult<Json<ProjectTokenEntity>> {
    let (id, token_id) = (call.grant.project(), call.params.token_id);
    let expires_at = call.params.expires_at.map(Ts::from_date);
    let done = app
        .db
        .write(move |tx| Ok((project::rotate(tx, &call.grant, token_id, expires_at)?, tx.now)));
    let (rotated, now) = done.await?;
    let ((token, level), secret) = rotated.ok_or_else(absent)?;
    let shown = TokenEntity::new(&token, now).with_secret(&secret);
    Ok(Json(ProjectTokenEntity::new(shown, level, id)))
}
