//! Files of releases: archives of the tag, and links.

use std::sync::Arc;

use entities::repo::{
    release::{ReleaseView, sources},
    release_link::ReleaseLinkEntity,
};
use graphql::{Connection, Failure, Registry, Value};
use repo::release::link::ReleaseLink;

use super::record::{ReleaseLoaders, ReleaseRecord};
use crate::{context::Context, pipelines::name_of, projects::ProjectRecord};

type Record = Arc<ReleaseRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ReleaseRecord>("ReleaseAssets")
        .lookup("count", |record: Record, _, context| async move {
            let links = links_of(&record, &context).await?.len();
            Ok(i64::try_from(links + archives(&record, &context).len()).unwrap_or(i64::MAX).into())
        })
        .lookup("links", |record: Record, arguments, context| async move {
            let (page, links) = (arguments.page()?, links_of(&record, &context).await?);
            let home = (&*record.project, record.row.tag.as_str());
            let values = links.iter().map(|row| link(home, row.clone()));
            Ok(Connection::of_list(&page, values.collect()).into())
        })
        .lookup("sources", |record: Record, arguments, context| async move {
            Ok(Connection::of_list(&arguments.page()?, archives(&record, &context)).into())
        });
}

async fn links_of(
    record: &ReleaseRecord,
    context: &Context,
) -> Result<Arc<Vec<ReleaseLink>>, Failure> {
    Ok(ReleaseLoaders::of(context).links.load(record.row.id).await?.unwrap_or_default())
}

pub(super) fn link((project, tag): (&ProjectRecord, &str), row: ReleaseLink) -> Value {
    let path = row.filepath.clone();
    let entity = ReleaseLinkEntity::new(project.web_url(), tag, row);
    Value::fields(
        "ReleaseAssetLink",
        [
            ("directAssetPath", path.into()),
            ("directAssetUrl", entity.direct_asset_url.into()),
            ("external", entity.external.into()),
            ("id", Value::gid("Releases::Link", entity.id)),
            ("linkType", name_of(entity.link_type)),
            ("name", entity.name.into()),
            ("url", entity.url.into()),
        ],
    )
}

/// The archives of the tag, for those who may read code.
fn archives(record: &ReleaseRecord, context: &Context) -> Vec<Value> {
    if !record.has_code() {
        return Vec::new();
    }
    let view = ReleaseView {
        urls: &context.forge.urls,
        full_path: &record.project.facts.full_path,
        now: record.row.created_at,
        has_code: true,
    };
    let value = |format: &'static str, url: String| {
        Value::fields("ReleaseSource", [("format", format.into()), ("url", url.into())])
    };
    sources(&view, &record.row.tag).into_iter().map(|one| value(one.format, one.url)).collect()
}
