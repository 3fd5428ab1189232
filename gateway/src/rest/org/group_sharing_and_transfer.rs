//! Sharing groups with groups, and moving groups and projects into other groups.

use entities::org::group::{GroupDetailEntity, LocationEntity};
use forge::urls::Urls;
use kernel::Ts;
use kernel::{Error, access::Administrate, error::Kind, ids::NamespaceId, page::Page};
use org::{
    access::{IdOrPath, locate_group},
    namespace::{
        Namespace, locations,
        sharing::{self, Sharing},
        store::NamespaceStore,
        transfer,
    },
    policy::{AdminGroup, OwnProject, UseGroup},
    project,
};
use time::Date;

use super::{groups::changed, member_params::Level};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Groups" at "";
    POST   "/groups/{id}/share"                 => share             : UseGroup,
    DELETE "/groups/{id}/share/{group_id}"      => unshare           : AdminGroup,
    POST   "/groups/{id}/transfer"              => transfer_group    : AdminGroup,
    GET    "/groups/{id}/transfer_locations"    => group_locations   : AdminGroup,
    POST   "/groups/{id}/projects/{project_id}" => take_project      : Administrate,
    GET    "/projects/{id}/transfer_locations"  => project_locations : OwnProject,
}

params! {
    struct Share {
        group_id: NamespaceId,
        group_access: Level,
        expires_at: Option<Date>,
    }
}

params! {
    struct OneGroup {
        group_id: NamespaceId,
    }
}

params! {
    struct Transfer {
        group_id: Option<NamespaceId>,
    }
}

params! {
    struct Locations: paged {
        search: Option<String>,
    }
}

params! {
    struct OneProject {
        id: String,
        project_id: String,
    }
}

async fn share(app: App, call: Call<UseGroup, Share>) -> ApiResult<Created<GroupDetailEntity>> {
    let sharing = Sharing {
        invited: call.params.group_id,
        level: call.params.group_access.0,
        expires_at: call.params.expires_at.map(Ts::from_date),
    };
    let grant = call.grant.clone();
    match app.db.write(move |tx| sharing::share(tx, &grant, sharing)).await {
        Ok(group) => Ok(Created(changed(&app, &call.grant, group).await?)),
        Err(unknown) if unknown.is_plain(Kind::NotFound) => {
            Err(Error::missing().whole("Not Found").into())
        }
        Err(other) => Err(other.into()),
    }
}

async fn unshare(app: App, call: Call<AdminGroup, OneGroup>) -> ApiResult<NoContent> {
    let (grant, invited) = (call.grant, call.params.group_id);
    app.db.write(move |tx| sharing::unshare(tx, &grant, invited)).await?;
    Ok(NoContent)
}

async fn transfer_group(
    app: App,
    call: Call<AdminGroup, Transfer>,
) -> ApiResult<Created<GroupDetailEntity>> {
    let (grant, target) = (call.grant.clone(), call.params.group_id);
    let moved = app.db.write(move |tx| {
        let target = match target {
            None => None,
            Some(id) => {
                let (_, who) = locate_group(tx, grant.actor(), &IdOrPath::Id(id.0))?;
                Some((id, who))
            }
        };
        transfer::transfer(tx, &grant, target)
    });
    let group = moved.await?;
    Ok(Created(changed(&app, &call.grant, group).await?))
}

fn listed(urls: &Urls, page: Page<Namespace>) -> PagedList<LocationEntity> {
    PagedList(page.map(|group| LocationEntity::new(urls, &group)))
}

async fn group_locations(
    app: App,
    call: Call<AdminGroup, Locations>,
) -> ApiResult<PagedList<LocationEntity>> {
    let (grant, page, search) = (call.grant, call.page, call.params.search);
    let found = app.db.read(move |tx| locations::of_group(tx, &grant, search.as_deref(), page));
    Ok(listed(&app.urls, found.await?))
}

async fn project_locations(
    app: App,
    call: Call<OwnProject, Locations>,
) -> ApiResult<PagedList<LocationEntity>> {
    let (grant, page, search) = (call.grant, call.page, call.params.search);
    let found = app.db.read(move |tx| locations::of_project(tx, &grant, search.as_deref(), page));
    Ok(listed(&app.urls, found.await?))
}

async fn take_project(
    app: App,
    call: Call<Administrate, OneProject>,
) -> ApiResult<Created<GroupDetailEntity>> {
    let (grant, given) = (call.grant.clone(), call.params);
    let taken = app.db.write(move |tx| {
        let (group, _) = locate_group(tx, grant.actor(), &IdOrPath::parse(&given.id))?;
        let group = group.0.id;
        let project = IdOrPath::parse(&given.project_id);
        project::actions::transfer_as_admin(tx, &grant, &project, group)?;
        tx.namespace(group)
    });
    let group = taken.await?;
    Ok(Created(changed(&app, &call.grant, group).await?))
}
