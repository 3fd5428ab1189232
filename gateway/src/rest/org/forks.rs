//! Forks: making one, and saying which project is one.

use entities::org::project::ProjectForm;
use forge::project::fork;
use kernel::{
    Error, Visibility,
    error::Kind,
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::IdOrPath,
    policy::{ForkProject, OwnProject},
    project::forks::{self, Fork},
};

use super::projects::presented;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, NoContent},
    routes,
};

routes! { "Forks" at "/projects/{id}/fork";
    POST   ""                  => create   : ForkProject,
    POST   "/{forked_from_id}" => relate   : OwnProject,
    DELETE ""                  => unrelate : OwnProject,
}

params! {
    struct CreateFork {
        namespace_id: Option<NamespaceId>,
        namespace_path: Option<String>,
        /// ID or full path of a namespace; deprecated in favor of `namespace_id` and `namespace_path`.
        namespace: Option<String>,
        name: Option<String>,
        path: Option<String>,
        description: Option<String>,
        visibility: Option<Visibility>,
        mr_default_target_self: Option<bool>,
    } with exclusive("namespace_id", "namespace_path", "namespace");
}

params! {
    struct OtherProject {
        forked_from_id: ProjectId,
    }
}

async fn create(app: App, call: Call<ForkProject, CreateFork>) -> ApiResult<Created<ProjectForm>> {
    let params = call.params.clone();
    let target = params.namespace_id.map(|id| IdOrPath::Id(id.0));
    let target = target.or_else(|| params.namespace_path.map(IdOrPath::Path));
    let target = target.or_else(|| params.namespace.as_deref().map(IdOrPath::parse));
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let wanted = Fork {
        namespace: None,
        name: filled(params.name),
        path: filled(params.path),
        description: params.description,
        visibility: params.visibility,
        mr_default_target_self: params.mr_default_target_self,
    };
    let project = fork::create(&app, &call.grant, target, wanted).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

async fn relate(app: App, call: Call<OwnProject, OtherProject>) -> ApiResult<Created<ProjectForm>> {
    let (grant, source) = (call.grant.clone(), call.params.forked_from_id);
    let tied = app.db.write(move |tx| forks::relate(tx, &grant, source)).await;
    match tied {
        Ok(project) => Ok(Created(presented(&app, &call, project).await?)),
        Err(refused) if refused.kind == Kind::Unauthenticated => {
            Err(Error::unauthenticated().because("Target Namespace").into())
        }
        Err(other) => Err(other.into()),
    }
}

async fn unrelate(app: App, call: Call<OwnProject>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    app.db.write(move |tx| forks::unrelate(tx, &call.grant, since)).await?;
    Ok(NoContent)
}
