//! Tokens of projects and groups.

use entities::org::token::{ResourceTokenEntity, TokenEntity};
use kernel::{AccessLevel, Error, Ts, ids::TokenId, page::PageRequest};
use org::{
    member::MemberSource,
    policy::{AskForGroupTokens, AskForProjectTokens, ReadGroupTokens, ReadProjectTokens},
    token::{
        Activity, Scope, Scopes, TokenFilter, TokenOrder,
        resource::{self, NewResourceToken},
    },
};
use time::Date;

use super::member_params::Level;
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Call, Csv, NonEmpty},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Access tokens of projects and groups" at "";
    GET    "/projects/{id}/access_tokens"                   => list_of_project   : ReadProjectTokens,
    POST   "/projects/{id}/access_tokens"                   => make_for_project  : AskForProjectTokens,
    GET    "/projects/{id}/access_tokens/{token_id}"        => show_of_project   : ReadProjectTokens,
    DELETE "/projects/{id}/access_tokens/{token_id}"        => revoke_of_project : AskForProjectTokens,
    POST   "/projects/{id}/access_tokens/{token_id}/rotate" => rotate_of_project : ReadProjectTokens,
    GET    "/groups/{id}/access_tokens"                     => list_of_group     : ReadGroupTokens,
    POST   "/groups/{id}/access_tokens"                     => make_for_group    : AskForGroupTokens,
    GET    "/groups/{id}/access_tokens/{token_id}"          => show_of_group     : ReadGroupTokens,
    DELETE "/groups/{id}/access_tokens/{token_id}"          => revoke_of_group   : AskForGroupTokens,
    POST   "/groups/{id}/access_tokens/{token_id}/rotate"   => rotate_of_group   : ReadGroupTokens,
}

params! {
    struct ListTokens: paged {
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
params! { struct OneToken { token_id: TokenId } }
params! { struct RotateToken { token_id: TokenId, expires_at: Option<Date> } }
params! {
    struct MakeToken {
        name: NonEmpty,
        scopes: Csv<Scope>,
        access_level: Level = Level(AccessLevel::Maintainer),
        expires_at: Option<Date>,
    }
}

impl ListTokens {
    fn filter(self) -> TokenFilter {
        TokenFilter {
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
            ..TokenFilter::default()
        }
    }
}

fn absent(place: &MemberSource, id: TokenId) -> ApiError {
    let (word, id) = (place.source.word(), id.0);
    Error::missing().named(format!("Could not find {word} access token with token_id: {id}")).into()
}

type Token = ResourceTokenEntity;

async fn listed(
    app: &App,
    place: MemberSource,
    given: ListTokens,
    page: PageRequest,
) -> ApiResult<PagedList<Token>> {
    let filter = given.filter();
    let found = app.db.read(move |tx| Ok((resource::list(tx, &place, filter, page)?, tx.now)));
    let (page, now) = found.await?;
    Ok(PagedList(
        page.map(|(token, level)| Token::new(TokenEntity::new(&token, now), level, place.source)),
    ))
}

async fn token_entity(app: &App, place: MemberSource, id: TokenId) -> ApiResult<Json<Token>> {
    let found = app.db.read(move |tx| Ok((resource::find(tx, &place, id)?, tx.now)));
    let (found, now) = found.await?;
    let (token, level) = found.ok_or_else(|| absent(&place, id))?;
    Ok(Json(Token::new(TokenEntity::new(&token, now), level, place.source)))
}

async fn made(app: &App, place: MemberSource, given: MakeToken) -> ApiResult<Created<Token>> {
    let new = NewResourceToken {
        name: given.name.0,
        scopes: Scopes(given.scopes.0),
        access_level: given.access_level.0,
        expires_at: given.expires_at.map(Ts::from_date),
    };
    let made = app.db.write(move |tx| Ok((resource::make(tx, &place, &new)?, tx.now)));
    let (((token, level), secret), now) = made.await?;
    let shown = TokenEntity::new(&token, now).with_secret(&secret);
    Ok(Created(Token::new(shown, level, place.source)))
}

async fn revoked(
    app: &App,
    place: MemberSource,
    id: TokenId,
    since: Option<Ts>,
) -> ApiResult<NoContent> {
    match app.db.write(move |tx| resource::revoke(tx, &place, id, since)).await? {
        true => Ok(NoContent),
        false => Err(absent(&place, id)),
    }
}

async fn rotated(app: &App, place: MemberSource, given: RotateToken) -> ApiResult<Json<Token>> {
    let (id, end) = (given.token_id, given.expires_at.map(Ts::from_date));
    let done = app.db.write(move |tx| Ok((resource::rotate(tx, &place, id, end)?, tx.now)));
    let (done, now) = done.await?;
    let ((token, level), secret) = done.ok_or_else(|| absent(&place, id))?;
    let shown = TokenEntity::new(&token, now).with_secret(&secret);
    Ok(Json(Token::new(shown, level, place.source)))
}

type ProjectTokenCall<P> = Call<AskForProjectTokens, P>;
type GroupTokenCall<P> = Call<AskForGroupTokens, P>;

async fn list_of_project(
    app: App,
    call: Call<ReadProjectTokens, ListTokens>,
) -> ApiResult<PagedList<Token>> {
    listed(&app, MemberSource::project(&call.grant), call.params, call.page).await
}

async fn make_for_project(
    app: App,
    call: ProjectTokenCall<MakeToken>,
) -> ApiResult<Created<Token>> {
    made(&app, MemberSource::project(&call.grant), call.params).await
}

async fn show_of_project(
    app: App,
    call: Call<ReadProjectTokens, OneToken>,
) -> ApiResult<Json<Token>> {
    token_entity(&app, MemberSource::project(&call.grant), call.params.token_id).await
}

async fn revoke_of_project(app: App, call: ProjectTokenCall<OneToken>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    revoked(&app, MemberSource::project(&call.grant), call.params.token_id, since).await
}

async fn rotate_of_project(
    app: App,
    call: Call<ReadProjectTokens, RotateToken>,
) -> ApiResult<Json<Token>> {
    rotated(&app, MemberSource::project(&call.grant), call.params).await
}

async fn list_of_group(
    app: App,
    call: Call<ReadGroupTokens, ListTokens>,
) -> ApiResult<PagedList<Token>> {
    listed(&app, MemberSource::group(&call.grant), call.params, call.page).await
}

async fn make_for_group(app: App, call: GroupTokenCall<MakeToken>) -> ApiResult<Created<Token>> {
    made(&app, MemberSource::group(&call.grant), call.params).await
}

async fn show_of_group(app: App, call: Call<ReadGroupTokens, OneToken>) -> ApiResult<Json<Token>> {
    token_entity(&app, MemberSource::group(&call.grant), call.params.token_id).await
}

async fn revoke_of_group(app: App, call: GroupTokenCall<OneToken>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    revoked(&app, MemberSource::group(&call.grant), call.params.token_id, since).await
}

async fn rotate_of_group(
    app: App,
    call: Call<ReadGroupTokens, RotateToken>,
) -> ApiResult<Json<Token>> {
    rotated(&app, MemberSource::group(&call.grant), call.params).await
}
