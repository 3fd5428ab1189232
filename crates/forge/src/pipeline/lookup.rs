//! The lookup of a commit's pipeline, and of a commit and ref by name.

use std::collections::HashMap;

use ci::{
    pipeline::{self, Pipeline, PipelineRef, PipelineStore},
    policy::ReadPipelines,
};
use db::Tx;
use kernel::{Ability as _, Result, Standing, ids::ProjectId};
use repo::{
    commit::read::{commit_named, deadline},
    git::{Oid, Reader, RefKind, RefName},
};

use crate::ports::ci::Projects;

/// The newest pipeline of a commit, where the caller may know of it.
pub fn shown_pipeline(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: ProjectId,
    sha: &str,
) -> Result<Option<Pipeline>> {
    if !ReadPipelines::allows(who) {
        return Ok(None);
    }
    let Some(found) = tx.newest_pipeline(project, sha)? else { return Ok(None) };
    let shown = pipeline::actions::is_shown(tx, &Projects, who, project)?;
    Ok(shown.then_some(found))
}

/// The newest pipelines of these commits, by commit, where the caller may know of them.
pub fn shown_pipelines(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: ProjectId,
    shas: &[String],
) -> Result<HashMap<String, Pipeline>> {
    let shown =
        ReadPipelines::allows(who) && pipeline::actions::is_shown(tx, &Projects, who, project)?;
    if shown { tx.newest_pipelines(project, shas) } else { Ok(HashMap::new()) }
}

/// A commit, by whatever names it, and the branch or tag that was named beside it.
pub fn named(
    reader: &Reader,
    sha: &str,
    place: Option<&str>,
) -> Result<(Oid, Option<PipelineRef>)> {
    let commit = commit_named(reader, sha)?;
    let Some(name) = place else { return Ok((commit, None)) };
    let there = |name: repo::git::Result<RefName>| -> Result<bool> {
        match name {
            Ok(name) => Ok(reader.find_reference(&name)?.is_some()),
            Err(_not_a_name) => Ok(false),
        }
    };
    let tag = there(RefName::tag(name))? && !there(RefName::branch(name))?;
    Ok((commit, Some(PipelineRef { name: name.to_owned(), tag })))
}

/// The first branch in whose history a commit is.
pub fn branch_with(reader: &Reader, commit: Oid) -> Result<Option<PipelineRef>> {
    let names = reader.containing(commit, RefKind::Branch, deadline())?;
    Ok(names.first().map(|name| PipelineRef { name: name.short().into_owned(), tag: false }))
}
