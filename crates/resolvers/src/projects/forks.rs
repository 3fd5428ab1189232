//! Forks in the fields of projects: where one may be made, and how one compares with its source.

use forge::commit::compare::divergence;
use graphql::{Arguments, Connection, Failure, Value};
use kernel::{AccessLevel, Feature};
use org::{policy::ForkProject, project::forks};
use repo::policy::ReadCode;

use super::record::ProjectRecord;
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    join::try_join_all,
};

/// How a branch of a fork compares with the default branch of its source.
pub(super) async fn fork_details(
    context: &Context,
    record: &ProjectRecord,
    branch: Option<String>,
) -> Result<Value, Failure> {
    let complete = record.complete(context).await?;
    let full = complete.as_ref().and_then(|complete| complete.shown.full.as_ref());
    let source = full.and_then(|full| full.forked_from.as_ref());
    let Some(source) =
        source.filter(|source| source.who.reads(Feature::Repository, AccessLevel::Reporter))
    else {
        return Ok(Value::Null);
    };
    let Some(grant) = visible(record.grant::<ReadCode>())? else { return Ok(Value::Null) };
    let branch = branch.or_else(|| record.facts.default_branch.clone());
    let (Some(branch), Some(base)) = (branch, source.project.default_branch.clone()) else {
        return Ok(Value::Null);
    };
    let base = (source.project.id, base);
    let compared = divergence(&context.forge, &grant, branch, base).await;
    Ok(visible(compared)?.map_or(Value::Null, |(ahead, behind)| {
        Value::fields("ForkDetails", [("ahead", ahead.into()), ("behind", behind.into())])
    }))
}

pub(super) async fn fork_targets(
    context: &Context,
    record: &ProjectRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(record.grant::<ForkProject>())? else { return Ok(Value::Null) };
    let search = arguments.maybe_text("search");
    let found = context.forge.db.read(move |tx| forks::targets(tx, &grant, search.as_deref()));
    let found = found.await.map_err(failure_of)?;
    let targets = found.iter().map(|target| groups::namespace_of_id(context, target.id));
    let targets = try_join_all(targets).await?;
    Ok(Connection::of_list(&page, targets).into())
}
