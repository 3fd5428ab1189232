//! Sizes and languages in the fields of projects.

use forge::project::statistics::{LanguageShare, language_shares};
use graphql::{Arguments, Failure, Value};

use super::record::{ProjectRecord, bytes};
use crate::{context::Context, failure::visible, pipelines::analytics::FigureLoaders};

/// Sizes, for reporters and above. What the artifacts of jobs take is summed up when it is asked for.
pub(super) async fn statistics(
    record: &ProjectRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let complete = record.complete(context).await?;
    let found = complete.as_ref().and_then(|complete| complete.entity.statistics.as_ref());
    let Some(found) = found else { return Ok(Value::Null) };
    let sums = arguments.selects("buildArtifactsSize") || arguments.selects("storageSize");
    let artifacts = match sums {
        true => FigureLoaders::of(context).artifact_sizes.load(record.id()).await?,
        false => None,
    };
    let artifacts = artifacts.unwrap_or_default();
    Ok(Value::fields(
        "ProjectStatistics",
        [
            ("buildArtifactsSize", bytes(artifacts)),
            ("commitCount", bytes(found.commit_count)),
            ("containerRegistrySize", Value::Null),
            ("lfsObjectsSize", bytes(found.lfs_objects_size)),
            ("packagesSize", bytes(found.packages_size)),
            ("pipelineArtifactsSize", bytes(found.pipeline_artifacts_size)),
            ("repositorySize", bytes(found.repository_size)),
            ("snippetsSize", bytes(found.snippets_size)),
            ("storageSize", bytes(found.storage_size - found.job_artifacts_size + artifacts)),
            ("uploadsSize", bytes(found.uploads_size)),
            ("wikiSize", bytes(found.wiki_size)),
        ],
    ))
}

pub(super) async fn languages(context: &Context, record: &ProjectRecord) -> Result<Value, Failure> {
    let Some(found) = visible(language_shares(&context.forge, &record.facts).await)? else {
        return Ok(Value::Null);
    };
    let language = |share: &LanguageShare| {
        let percent = f64::from(i32::try_from(share.hundredths).unwrap_or(i32::MAX)) / 100.0;
        Value::fields(
            "RepositoryLanguage",
            [("name", share.name.into()), ("color", Value::Null), ("share", percent.into())],
        )
    };
    Ok(Value::list(found.iter().map(language)))
}
