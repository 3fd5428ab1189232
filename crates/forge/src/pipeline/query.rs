//! Lists of a project's pipelines, as callers ask for them.

use ci::{
    Status,
    pipeline::{NewestOfRefs, PipelineFilter, PipelineOrder, PipelineScope, Source},
    policy::ReadPipelines,
};
use kernel::{Grant, Result, Ts, ids::UserId};
use org::user::store::UserStore as _;

use crate::Forge;

/// Which pipelines of a project are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct PipelineQuery {
    pub scope: Option<PipelineScope>,
    pub status: Option<Status>,
    pub source: Option<Source>,
    pub ref_name: Option<String>,
    pub sha: Option<String>,
    pub yaml_errors: Option<bool>,
    pub username: Option<String>,
    pub name: Option<String>,
    pub created_before: Option<Ts>,
    pub created_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub order: PipelineOrder,
    pub descending: bool,
}

impl PipelineQuery {
    /// The filter, by the branches and tags that are there and the ID of the user.
    ///
    /// # Errors
    /// When the database or the repository cannot be read.
    pub async fn into_filter(
        self,
        forge: &Forge,
        grant: &Grant<ReadPipelines>,
    ) -> Result<PipelineFilter> {
        let newest = newest(forge, grant, self.scope).await?;
        let users = users(forge, self.username).await?;
        let statuses = PipelineScope::statuses_of(self.scope, self.status);
        Ok(PipelineFilter {
            // Nobody's pipelines, where the scope and the status contradict each other.
            users: if statuses.is_none() { Some(Vec::new()) } else { users },
            statuses: statuses.unwrap_or_default(),
            source: self.source,
            ref_name: self.ref_name,
            sha: self.sha,
            newest,
            yaml_errors: self.yaml_errors,
            name: self.name.filter(|name| !name.is_empty()),
            created_before: self.created_before,
            created_after: self.created_after,
            updated_before: self.updated_before,
            updated_after: self.updated_after,
            order: self.order,
            descending: self.descending,
            ..PipelineFilter::default()
        })
    }
}

async fn users(forge: &Forge, name: Option<String>) -> Result<Option<Vec<UserId>>> {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
    let found = forge.db.read(move |tx| tx.find_user_named(&name)).await?;
    Ok(Some(Vec::from_iter(found.map(|user| user.id))))
}

/// The branches or tags that are there, where each is to show its newest pipeline.
async fn newest(
    forge: &Forge,
    grant: &Grant<ReadPipelines>,
    scope: Option<PipelineScope>,
) -> Result<Option<NewestOfRefs>> {
    let tags = match scope {
        Some(PipelineScope::Branches) => false,
        Some(PipelineScope::Tags) => true,
        _ => return Ok(None),
    };
    let read = forge.git_read(grant.project(), move |reader| {
        let found = if tags { reader.tag_refs()? } else { reader.branches()? };
        Ok(found.into_iter().map(|found| found.name.short().into_owned()).collect())
    });
    Ok(Some(NewestOfRefs { tags, names: read.await? }))
}
