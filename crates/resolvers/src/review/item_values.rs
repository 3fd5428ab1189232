//! Issues, merge requests and epics as values, also by their ids.

use std::sync::Arc;

use graphql::{Failure, Value};
use kernel::{
    Standing,
    ids::{IssueId, MergeRequestId, ProjectId},
};

use super::{
    loaders::ReviewLoaders,
    records::{EpicRecord, IssueRecord, MergeRequestRecord},
};
use crate::context::Context;

pub fn issue(record: IssueRecord) -> Value {
    issue_of(Arc::new(record))
}

pub fn issue_of(record: Arc<IssueRecord>) -> Value {
    Value::object("Issue", record)
}

/// An issue by its id; null where it is not there for the caller.
///
/// # Errors
/// When the database failed.
pub async fn issue_of_id(context: &Context, id: IssueId) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).issues.load(id).await?;
    Ok(found.map_or(Value::Null, issue_of))
}

/// How the caller stands in a project; nothing where it is hidden from them.
pub async fn standing(context: &Context, project: ProjectId) -> Result<Option<Standing>, Failure> {
    ReviewLoaders::of(context).standings.load(project).await
}

pub fn merge_request(record: MergeRequestRecord) -> Value {
    merge_request_of(Arc::new(record))
}

pub fn merge_request_of(record: Arc<MergeRequestRecord>) -> Value {
    Value::object("MergeRequest", record)
}

/// A merge request by its id; null where it is not there for the caller.
///
/// # Errors
/// When the database failed.
pub async fn merge_request_of_id(context: &Context, id: MergeRequestId) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).merge_requests.load(id).await?;
    Ok(found.map_or(Value::Null, merge_request_of))
}

pub fn epic(record: Arc<EpicRecord>) -> Value {
    Value::object("Epic", record)
}

/// An epic by its id; null where it is not there for the caller.
///
/// # Errors
/// When the database failed.
pub async fn epic_of_id(context: &Context, id: i64) -> Result<Value, Failure> {
    Ok(ReviewLoaders::of(context).epics.load(id).await?.map(epic).into())
}
