//! Stars: who likes which project.

use entities::org::{project::ProjectForm, starrer::Starrer};
use org::{
    policy::{ReadProject, UseProject},
    project::stars,
};

use super::projects::presented;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, PagedList},
    routes,
};

routes! { "Projects" at "/projects/{id}";
    POST "/star"     => star     : UseProject,
    POST "/unstar"   => unstar   : UseProject,
    GET  "/starrers" => starrers : ReadProject,
}

params! {
    struct ListStarrers: paged {
        search: Option<String>,
    }
}

async fn star(app: App, call: Call<UseProject>) -> ApiResult<Created<ProjectForm>> {
    let grant = call.grant.clone();
    let project = app.db.write(move |tx| stars::star(tx, &grant)).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

async fn unstar(app: App, call: Call<UseProject>) -> ApiResult<Created<ProjectForm>> {
    let grant = call.grant.clone();
    let project = app.db.write(move |tx| stars::unstar(tx, &grant)).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

async fn starrers(
    app: App,
    call: Call<ReadProject, ListStarrers>,
) -> ApiResult<PagedList<Starrer>> {
    let (grant, page, search) = (call.grant, call.page, call.params.search);
    let found = app.db.read(move |tx| stars::starrers(tx, &grant, search.as_deref(), page)).await?;
    Ok(PagedList(found.map(|(since, user)| Starrer::new(&app.urls, since, &user))))
}
