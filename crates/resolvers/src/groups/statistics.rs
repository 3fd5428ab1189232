//! Sums over everything inside a group, in the fields of groups.

use std::sync::Arc;

use graphql::{Arguments, Failure, Value};
use kernel::{Actor, ids::NamespaceId};
use org::{
    namespace::{Namespace, list_all::NamespaceLists as _, statistics::GroupStatistics as _},
    project::{home::HomeStore as _, statistics::Statistics},
};

use super::record::GroupRecord;
use crate::{
    context::Context,
    loaders::{BatchLoader, Loaders},
    pipelines::analytics::FigureLoaders,
    projects,
};

/// Loads what is summed up over everything inside groups.
pub(super) struct SumLoaders {
    trees: BatchLoader<NamespaceId, Statistics>,
    pub(super) seats: BatchLoader<NamespaceId, i64>,
}

impl SumLoaders {
    pub(super) fn of(loaders: &Loaders, actor: Actor) -> Arc<Self> {
        loaders.of(|db| Self {
            trees: BatchLoader::new(db, |tx, ids| tx.statistics_of_trees(ids)),
            seats: BatchLoader::new(db, move |tx, ids| {
                let groups: Vec<Namespace> = tx.namespaces_by_id(ids)?.into_values().collect();
                let counts = tx.cared_for(actor, &groups)?.into_iter();
                Ok(counts.map(|(id, counts)| (id, counts.seats)).collect())
            }),
        })
    }
}

pub(super) async fn root_statistics(
    context: &Context,
    record: &GroupRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(sums) = tree_statistics(context, record).await? else { return Ok(Value::Null) };
    let sizes = arguments.selects("buildArtifactsSize") || arguments.selects("storageSize");
    let artifacts = match sizes {
        true => FigureLoaders::of(context).artifact_sizes_below.load(record.id()).await?,
        false => None,
    };
    Ok(storage(sums, artifacts.unwrap_or_default()))
}

fn storage(sums: Statistics, artifacts: i64) -> Value {
    let none = || Value::from(0.0);
    Value::fields(
        "RootStorageStatistics",
        [
            ("buildArtifactsSize", projects::bytes(artifacts)),
            ("containerRegistrySize", none()),
            ("dependencyProxySize", none()),
            ("lfsObjectsSize", projects::bytes(sums.lfs_objects_size)),
            ("packagesSize", none()),
            ("pipelineArtifactsSize", none()),
            ("repositorySize", projects::bytes(sums.repository_size)),
            ("snippetsSize", none()),
            ("storageSize", projects::bytes(sums.storage_size() + artifacts)),
            ("uploadsSize", projects::bytes(sums.uploads_size)),
            ("wikiSize", projects::bytes(sums.wiki_size)),
        ],
    )
}

/// Sizes of everything inside, for owners.
pub(super) async fn tree_statistics(
    context: &Context,
    record: &GroupRecord,
) -> Result<Option<Statistics>, Failure> {
    if !record.is_owned() {
        return Ok(None);
    }
    SumLoaders::of(&context.loaders, context.actor()).trees.load(record.id()).await
}
