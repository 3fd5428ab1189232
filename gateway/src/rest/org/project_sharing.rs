//! Sharing a project with groups, and whom it reaches.

use entities::org::{
    brief_user::BriefUser,
    project_sharing::{GroupLinkEntity, ProjectGroup},
};
use kernel::{
    AccessLevel, Error, Ts,
    error::Kind,
    ids::{NamespaceId, UserId},
};
use org::{
    policy::{AdminProject, ReadProject},
    project::{
        links::{self, Sharing},
        project_access::{self, GroupQuery},
    },
};
use time::Date;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Projects" at "/projects/{id}";
    POST   "/share"            => share   : AdminProject,
    DELETE "/share/{group_id}" => unshare : AdminProject,
    GET    "/users"            => people  : ReadProject,
    GET    "/groups"           => groups  : ReadProject,
}

params! {
    struct Share {
        group_id: NamespaceId,
        group_access: AccessLevel,
        expires_at: Option<Date>,
    }
}

params! {
    struct OneGroup {
        group_id: NamespaceId,
    }
}

params! {
    struct ListPeople: paged {
        search: Option<String>,
        skip_users: Option<Csv<UserId>>,
    }
}

params! {
    struct ListGroups: paged {
        search: Option<String>,
        skip_groups: Option<Csv<NamespaceId>>,
        with_shared: bool = false,
        shared_visible_only: bool = false,
        shared_min_access_level: Option<AccessLevel>,
    }
}

async fn share(app: App, call: Call<AdminProject, Share>) -> ApiResult<Created<GroupLinkEntity>> {
    let sharing = Sharing {
        group: call.params.group_id,
        level: call.params.group_access,
        expires_at: call.params.expires_at.map(Ts::from_date),
    };
    let made = app.db.write(move |tx| links::share(tx, &call.grant, sharing)).await;
    match made {
        Ok(link) => Ok(Created(link.into())),
        Err(unknown) if unknown.is_plain(Kind::NotFound) => {
            Err(Error::missing().whole("Not Found").into())
        }
        Err(other) => Err(other.into()),
    }
}

async fn unshare(app: App, call: Call<AdminProject, OneGroup>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let group = call.params.group_id;
    app.db.write(move |tx| links::unshare(tx, &call.grant, group, since)).await?;
    Ok(NoContent)
}

async fn people(app: App, call: Call<ReadProject, ListPeople>) -> ApiResult<PagedList<BriefUser>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let found = app.db.read(move |tx| {
        let without = params.skip_users.map(|ids| ids.0).unwrap_or_default();
        project_access::people(tx, &grant, params.search.as_deref(), &without, page)
    });
    Ok(PagedList(found.await?.map(|user| BriefUser::new(&app.urls, &user))))
}

async fn groups(
    app: App,
    call: Call<ReadProject, ListGroups>,
) -> ApiResult<PagedList<ProjectGroup>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let wanted = GroupQuery {
        search: params.search,
        without: params.skip_groups.map(|ids| ids.0).unwrap_or_default(),
        with_shared: params.with_shared,
        shared_visible_only: params.shared_visible_only,
        shared_min_access_level: params.shared_min_access_level,
    };
    let found = app.db.read(move |tx| project_access::groups(tx, &grant, &wanted)).await?;
    Ok(PagedList(page.slice(found).map(|group| ProjectGroup::new(&app.urls, &group))))
}
