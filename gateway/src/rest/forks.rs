//! Forks: making one, and saying which project is one.

use kernel::{
    Error, Visibility,
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::IdOrPath,
    namespace::store::NamespaceStore,
    policy::{ForkProject, OwnProject},
    project::forks::{self, Fork},
};

use super::projects::presented;
use crate::{
    app::App,
    compose::{beginnings::promise_fork, projects::begin_fork},
    entities::project::ProjectForm,
    error::{ApiError, ApiResult},
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
        /// An id or a path: an older form of the other two.
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
    let (grant, params) = (call.grant.clone(), call.params.clone());
    let source = grant.project();
    let made = app.db.write(move |tx| {
        let namespace = named_namespace(tx, &params)?;
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let wanted = Fork {
            namespace,
            name: filled(params.name),
            path: filled(params.path),
            description: params.description,
            visibility: params.visibility,
            mr_default_target_self: params.mr_default_target_self,
        };
        let made = forks::fork(tx, &grant, &wanted)?;
        promise_fork(tx, made.id)?;
        Ok(made)
    });
    let project = begin_fork(&app, made.await?, source).await?;
    Ok(Created(presented(&app, &call, project).await?))
}

/// The namespace that the parameters name, which must be there.
fn named_namespace(
    tx: &mut db::Tx<'_>,
    params: &CreateFork,
) -> kernel::Result<Option<NamespaceId>> {
    let named = params.namespace_path.as_ref().map(|path| IdOrPath::Path(path.clone()));
    let named = named.or_else(|| params.namespace.as_deref().map(IdOrPath::parse));
    let found = match (params.namespace_id, named) {
        (None, None) => return Ok(None),
        (Some(id), _) => tx.find_namespace(id)?,
        (None, Some(IdOrPath::Id(id))) => tx.find_namespace(NamespaceId(id))?,
        (None, Some(IdOrPath::Path(path))) => tx.find_namespace_at(&path)?,
    };
    found.map(|namespace| Some(namespace.id)).ok_or(Error::NotFound("Target Namespace"))
}

async fn relate(app: App, call: Call<OwnProject, OtherProject>) -> ApiResult<Created<ProjectForm>> {
    let (grant, source) = (call.grant.clone(), call.params.forked_from_id);
    let tied = app.db.write(move |tx| forks::relate(tx, &grant, source)).await;
    match tied {
        Ok(project) => Ok(Created(presented(&app, &call, project).await?)),
        Err(Error::Unauthenticated) => Err(ApiError::NoTarget),
        Err(other) => Err(other.into()),
    }
}

async fn unrelate(app: App, call: Call<OwnProject>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    app.db.write(move |tx| forks::unrelate(tx, &call.grant, since)).await?;
    Ok(NoContent)
}
