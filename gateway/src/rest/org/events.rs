//! Feeds: what people did.

use entities::org::activity::ActivityEntity;
use forge::{ports::directory::Directory, user::visibility::reads_profile};
use kernel::{
    Ts,
    access::{Anyone, SignedIn},
    page::PageRequest,
};
use org::policy::ReadProject;
use review::activity::{
    Action,
    feed::{Feed, FeedFilter, TargetType, feed},
};
use time::{Date, Duration};

use super::project_lists::person;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::PagedList,
    routes,
};

routes! { "Events" at "", also [ReadUser];
    GET "/events"                  => own        : SignedIn,
    GET "/users/{user_id}/events"  => of_user    : Anyone,
}

pub mod of_projects {
    use super::{ReadProject, of_project};
    use crate::routes;

    routes! { "Events" at "/projects/{id}/events";
        GET "" => of_project : ReadProject,
    }
}

kernel::text_enum! {
    /// Whether events of others are shown, too.
    enum FeedScope { All = "all" }
}

param_enums! { Action, TargetType, FeedScope }

params! {
    pub struct ListEvents: paged {
        action: Option<Action>,
        target_type: Option<TargetType>,
        /// Only events before this date.
        before: Option<Date>,
        /// Only events after this date.
        after: Option<Date>,
        sort: Sort = Sort::Desc,
    }
}

params! {
    struct WithScope: paged {
        /// `all` includes events of others in the caller's projects.
        scope: Option<FeedScope>,
    }
}

params! {
    struct UserEvents {
        user_id: String,
    }
}

impl From<ListEvents> for FeedFilter {
    fn from(params: ListEvents) -> Self {
        let next = |day: Date| Ts::from_date(day).plus(Duration::days(1));
        Self {
            action: params.action,
            target: params.target_type,
            before: params.before.map(Ts::from_date),
            since: params.after.map(next),
            newest_first: params.sort == Sort::Desc,
        }
    }
}

async fn own(
    app: App,
    call: Call<SignedIn, (WithScope, ListEvents)>,
) -> ApiResult<PagedList<ActivityEntity>> {
    let user = call.grant.user()?;
    let (scope, listed) = call.params;
    let whose = match scope.scope {
        Some(FeedScope::All) => Feed::Around(user),
        None => Feed::Of(user),
    };
    read(&app, call.grant.actor(), whose, listed, call.page).await
}

async fn of_user(
    app: App,
    call: Call<Anyone, (UserEvents, ListEvents)>,
) -> ApiResult<PagedList<ActivityEntity>> {
    let (of, listed) = call.params;
    let user = person(&app, &of.user_id).await?;
    let actor = call.grant.actor();
    // What a person keeps to themselves looks like nothing.
    if !reads_profile(actor, &user) {
        return Ok(PagedList(call.page.slice(Vec::new())));
    }
    read(&app, actor, Feed::Of(user.id), listed, call.page).await
}

async fn of_project(
    app: App,
    call: Call<ReadProject, ListEvents>,
) -> ApiResult<PagedList<ActivityEntity>> {
    let whose = Feed::In(call.grant.project());
    read(&app, call.grant.actor(), whose, call.params, call.page).await
}

async fn read(
    app: &App,
    actor: kernel::Actor,
    whose: Feed,
    listed: ListEvents,
    page: PageRequest,
) -> ApiResult<PagedList<ActivityEntity>> {
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let events = feed(tx, &directory, actor, whose, listed.into(), page)?;
        events.try_map_all(|events| ActivityEntity::all(tx, &urls, events))
    });
    Ok(PagedList(found.await?))
}
