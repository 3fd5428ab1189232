//! Links of releases are made, changed and removed.

use std::sync::Arc;

use forge::release::{create_link, remove_link, update_link};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Grant, Result as KernelResult, ids::ReleaseLinkId};
use repo::{
    policy::PushCode,
    release::{
        Release, ReleaseStore as _,
        link::{LinkChange, ReleaseLink, ReleaseLinkStore as _},
    },
};

use super::{
    assets::link,
    lists::is_readable,
    mutations::{new_link, project},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    pipelines::value_of,
    projects::{self, ProjectRecord},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("releaseAssetLinkCreate", |input, context| async move {
        create(&input, &context).await
    });
    registry.mutation("releaseAssetLinkUpdate", |input, context| async move {
        update(&input, &context).await
    });
    registry.mutation("releaseAssetLinkDelete", |input, context| async move {
        remove(&input, &context).await
    });
}

fn payload(
    (project, release): (&ProjectRecord, &Release),
    written: KernelResult<ReleaseLink>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => Payload::new().field("link", link((project, &release.tag), row)),
        Err(errors) => Payload::errors(errors),
    })
}

async fn create(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (record, grant) = project(input, context).await?;
    let (tag, new, id) = (input.text("tagName")?, new_link(input)?, record.id());
    let wanted = tag.clone();
    let found = context.forge.db.read(move |tx| tx.find_release(id, &wanted)).await;
    let is_readable = is_readable(context, &record).await?;
    let Some(release) = found.map_err(failure_of)?.filter(|_| is_readable) else {
        return Ok(Payload::errors(vec![format!("Release with tag \"{tag}\" was not found")]));
    };
    let written = context.forge.db.write(move |tx| create_link(tx, &grant, &tag, new));
    payload((&record, &release), written.await)
}

/// A link that a mutation names, with all that it belongs to.
struct LinkPlace {
    project: Arc<ProjectRecord>,
    grant: Grant<PushCode>,
    release: Release,
    id: ReleaseLinkId,
}

async fn place(input: &Arguments, context: &Context) -> Result<LinkPlace, Failure> {
    let id = ReleaseLinkId(input.gid("id", &["Releases::Link"])?);
    let found = context.forge.db.read(move |tx| match tx.release_link_by_id(id)? {
        Some(link) => tx.release_by_id(link.release_id),
        None => Ok(None),
    });
    let release = found.await.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    let project = projects::record_of(context, release.project_id).await?;
    let project = project.ok_or(Failure::NotFoundOrForbidden)?;
    if !is_readable(context, &project).await? {
        return Err(Failure::NotFoundOrForbidden);
    }
    let grant = project.grant::<PushCode>().map_err(failure_of)?;
    Ok(LinkPlace { project, grant, release, id })
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let LinkPlace { project, grant, release, id } = place(input, context).await?;
    let path = || input.maybe_text("directAssetPath").filter(|path| !path.is_empty());
    let change = LinkChange {
        name: input.maybe_text("name"),
        url: input.maybe_text("url"),
        filepath: input.has("directAssetPath").then(path),
        link_type: value_of(input.maybe_enum("linkType")),
    };
    let tag = release.tag.clone();
    let written = context.forge.db.write(move |tx| update_link(tx, &grant, &tag, id, change));
    payload((&project, &release), written.await)
}

async fn remove(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let LinkPlace { project, grant, release, id } = place(input, context).await?;
    let tag = release.tag.clone();
    let removed = context.forge.db.write(move |tx| remove_link(tx, &grant, &tag, id));
    payload((&project, &release), removed.await)
}
