//! Sites that mirror each other.

use std::sync::Arc;

use geo::node::{GeoNode, NodeStore as _};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{Grant, TextEnum, access::Administrate};

use super::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    pipelines::located_project::instance_grant,
};

/// A site as it is set up.
#[derive(Debug)]
struct NodeRecord(GeoNode);

type Record = Arc<NodeRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "CiSecureFileRegistry",
        "ContainerRepositoryRegistry",
        "DependencyProxyBlobRegistry",
        "DependencyProxyManifestRegistry",
        "GroupWikiRepositoryRegistry",
        "JobArtifactRegistry",
        "LfsObjectRegistry",
        "MergeRequestDiffRegistry",
        "PackageFileRegistry",
        "PagesDeploymentRegistry",
        "PipelineArtifactRegistry",
        "SnippetRepositoryRegistry",
        "TerraformStateVersionRegistry",
        "UploadRegistry",
    ]);
    let _ = registry
        .query()
        .lookup("geoNode", |_, arguments, context| async move { find(&arguments, &context).await });
    let _ = registry
        .object::<NodeRecord>("GeoNode")
        .plain("containerRepositoriesMaxCapacity", |node| {
            node.0.container_repositories_max_capacity.into()
        })
        .plain("enabled", |node| node.0.enabled.into())
        .plain("filesMaxCapacity", |node| node.0.files_max_capacity.into())
        .plain("id", |node| Value::gid("GeoNode", node.0.id))
        .plain("internalUrl", |node| node.0.internal_url().into())
        .plain("minimumReverificationInterval", |node| {
            node.0.minimum_reverification_interval.into()
        })
        .plain("name", |node| node.0.name.as_str().into())
        .plain("primary", |node| node.0.primary.into())
        .plain("reposMaxCapacity", |node| node.0.repos_max_capacity.into())
        .plain("selectiveSyncShards", |node| node.0.shards().into())
        .plain("selectiveSyncType", |node| node.0.selective_sync_type.map(TextEnum::as_str).into())
        .plain("syncObjectStorage", |node| node.0.sync_object_storage.into())
        .plain("url", |node| node.0.url.as_str().into())
        .plain("verificationMaxCapacity", |node| node.0.verification_max_capacity.into())
        .lookup("selectiveSyncNamespaces", |node: Record, arguments, context| async move {
            namespaces(&node, &arguments, &context).await
        })
        .none(&[
            "ciSecureFileRegistries",
            "containerRepositoryRegistries",
            "dependencyProxyBlobRegistries",
            "dependencyProxyManifestRegistries",
            "groupWikiRepositoryRegistries",
            "jobArtifactRegistries",
            "lfsObjectRegistries",
            "mergeRequestDiffRegistries",
            "packageFileRegistries",
            "pagesDeploymentRegistries",
            "pipelineArtifactRegistries",
            "snippetRepositoryRegistries",
            "terraformStateVersionRegistries",
            "uploadRegistries",
        ]);
}

/// The site with a name, or this one.
async fn find(arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    let grant: Option<Grant<Administrate>> = visible(instance_grant(context))?;
    if grant.is_none() {
        return Ok(Value::Null);
    }
    let own = context.forge.node_identity.name.clone();
    let name = arguments.maybe_text("name").unwrap_or(own);
    let found = context.forge.db.read(move |tx| tx.geo_node_named(&name)).await;
    let found = found.map_err(failure_of)?;
    Ok(found.map_or(Value::Null, |node| Value::object("GeoNode", Arc::new(NodeRecord(node)))))
}

async fn namespaces(
    node: &NodeRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let id = node.0.id;
    let read = context.forge.db.read(move |tx| tx.geo_namespaces(&[id])).await;
    let groups = read.map_err(failure_of)?.remove(&id).unwrap_or_default();
    let shown = groups.into_iter().map(|id| groups::namespace_of_id(context, id));
    let shown = crate::join::try_join_all(shown).await?;
    Ok(Connection::of_list(&arguments.page()?, shown).into())
}
