//! Releases are made, changed and removed.

use std::sync::Arc;

use forge::{
    commit::author,
    release::{self as releases, MilestoneNames, ReleaseDraft},
};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Grant, Result as KernelResult, Ts};
use repo::{
    policy::PushCode,
    release::{
        Release, ReleaseChange, ReleaseStore as _,
        link::{LinkType, NewLink},
    },
};

use super::record::{ReleaseLoaders, release};
use crate::{
    context::Context,
    failure::{done, failure_of},
    pipelines::{located_project, value_of},
    projects::{self, ProjectRecord},
    values::texts,
};

const ABSENT: &str = "Release does not exist";

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("releaseCreate", |input, context| async move { create(&input, &context).await });
    registry
        .mutation("releaseUpdate", |input, context| async move { update(&input, &context).await });
    registry
        .mutation("releaseDelete", |input, context| async move { remove(&input, &context).await });
}

/// The project that a mutation names, with the proof that the caller may change its releases.
pub(super) async fn project(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<ProjectRecord>, Grant<PushCode>), Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<PushCode>().map_err(failure_of)?;
    let record = projects::record_of(context, home.id()).await?;
    Ok((record.ok_or(Failure::NotFoundOrForbidden)?, grant))
}

fn payload(
    context: &Context,
    project: Arc<ProjectRecord>,
    written: KernelResult<Release>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => Payload::new().field("release", release(context, project, row)),
        Err(errors) => Payload::errors(errors),
    })
}

fn moment(input: &Arguments) -> Result<Option<Ts>, Failure> {
    let parse = |text: String| {
        Ts::parse(&text).ok_or_else(|| Failure::message("`releasedAt` is no moment"))
    };
    input.maybe_text("releasedAt").map(parse).transpose()
}

async fn create(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (record, grant) = project(input, context).await?;
    let caller = context.signed_in()?;
    let assets = input.object("assets");
    let links = assets.map(|assets| assets.objects("links")).unwrap_or_default();
    let draft = ReleaseDraft {
        tag: input.text("tagName")?,
        tag_message: input.maybe_text("tagMessage"),
        from: input.maybe_text("ref"),
        name: input.maybe_text("name").filter(|name| !name.is_empty()),
        description: input.maybe_text("description"),
        released_at: moment(input)?,
        links: links.iter().map(new_link).collect::<Result<_, _>>()?,
        milestones: MilestoneNames::Titles(texts(input, "milestones")?.unwrap_or_default()),
        author: caller.id,
        tagger: author::signature(&context.forge, caller),
    };
    payload(context, record, releases::create(&context.forge, grant, draft).await)
}

/// A link as an input object has it.
pub(super) fn new_link(input: &Arguments) -> Result<NewLink, Failure> {
    Ok(NewLink {
        name: input.text("name")?,
        url: input.text("url")?,
        filepath: input.maybe_text("directAssetPath").filter(|path| !path.is_empty()),
        link_type: value_of(input.maybe_enum("linkType")).unwrap_or(LinkType::Other),
    })
}

async fn existing(
    context: &Context,
    grant: &Grant<PushCode>,
    tag: &str,
) -> Result<Option<Release>, Failure> {
    let (project, tag) = (grant.project(), tag.to_owned());
    let found = context.forge.db.read(move |tx| tx.find_release(project, &tag)).await;
    found.map_err(failure_of)
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (record, grant) = project(input, context).await?;
    let tag = input.text("tagName")?;
    if existing(context, &grant, &tag).await?.is_none() {
        return Ok(Payload::errors(vec![ABSENT.to_owned()]));
    }
    let change = ReleaseChange {
        name: input.maybe_text("name"),
        description: input.has("description").then(|| input.maybe_text("description")),
        released_at: moment(input)?,
        milestones: None,
    };
    let milestones = texts(input, "milestones")?.map(MilestoneNames::Titles);
    let written = context
        .forge
        .db
        .write(move |tx| releases::update(tx, &grant, &tag, change, milestones.as_ref()));
    payload(context, record, written.await)
}

async fn remove(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (record, grant) = project(input, context).await?;
    let tag = input.text("tagName")?;
    let Some(row) = existing(context, &grant, &tag).await? else {
        return Ok(Payload::errors(vec![ABSENT.to_owned()]));
    };
    // The answer tells what the release had, which is gone with it.
    ReleaseLoaders::of(context).keep(row.id).await?;
    let removed = context.forge.db.write(move |tx| releases::remove(tx, &grant, &tag, None)).await;
    payload(context, record, removed.map(|(row, _)| row))
}
