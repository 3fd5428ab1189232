//! Users who follow other users.

use db::Tx;
use entities::org::brief_user::BriefUser;
use forge::user::visibility::reads_profile;
use kernel::{
    Error, Result,
    access::{Anyone, SignedIn},
    ids::UserId,
    page::{Page, PageRequest},
};
use org::{follow::actions, user::User};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, PagedList},
    rest::shared::people,
    routes,
};

routes! { "Following" at "/users/{id}", also [ReadUser];
    POST "/follow"    => follow    : SignedIn,
    POST "/unfollow"  => unfollow  : SignedIn,
    GET  "/followers" => followers : Anyone   ,
    GET  "/following" => following : Anyone   ,
}

params! { struct OneUser { id: UserId } }
params! { struct UserPage: paged { id: UserId } }

async fn follow(app: App, call: Call<SignedIn, OneUser>) -> ApiResult<Created<BriefUser>> {
    let (user, whom) = (call.grant.user()?, call.params.id);
    let followed = app.db.write(move |tx| actions::follow(tx, user, whom)).await?;
    Ok(Created(BriefUser::new(&app.urls, &followed)))
}

async fn unfollow(app: App, call: Call<SignedIn, OneUser>) -> ApiResult<Created<BriefUser>> {
    let (user, whom) = (call.grant.user()?, call.params.id);
    let left = app.db.write(move |tx| actions::unfollow(tx, user, whom)).await?;
    Ok(Created(BriefUser::new(&app.urls, &left)))
}

type List = fn(&mut Tx<'_>, UserId, PageRequest) -> Result<Page<User>>;

async fn listed(
    app: &App,
    call: Call<Anyone, UserPage>,
    list: List,
) -> ApiResult<PagedList<BriefUser>> {
    let (actor, page, id) = (call.grant.actor(), call.page, call.params.id);
    if actor.id.is_none() {
        return Err(Error::forbidden().because("Not authorized!").into());
    }
    let found = app.db.read(move |tx| {
        let user = people::named(tx, &id.to_string())?;
        if !reads_profile(actor, &user) {
            return Err(Error::not_found("User"));
        }
        list(tx, id, page)
    });
    Ok(PagedList(found.await?.map(|user| BriefUser::new(&app.urls, &user))))
}

async fn followers(app: App, call: Call<Anyone, UserPage>) -> ApiResult<PagedList<BriefUser>> {
    listed(&app, call, actions::followers).await
}

async fn following(app: App, call: Call<Anyone, UserPage>) -> ApiResult<PagedList<BriefUser>> {
    listed(&app, call, actions::following).await
}
