//! Accepting a merge request: everything that may keep it from being merged, in the contract's order.

use kernel::{Error, Grant, Result, Standing};
use org::user::User;
use review::{
    merge_request::{
        MergeRequest, actions,
        merge::{AutoMerge, auto},
        mergeability::HeadPipeline,
    },
    policy::ReadMergeRequests,
};

use super::{
    look::{facts, look, look_now},
    run::{self, By},
};
use crate::{
    app::App,
    compose::merge_request_records::may_merge,
    error::{ApiError, ApiResult},
};

/// How somebody wants it merged, and when.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    pub how: AutoMerge,
    /// Not before its pipeline has succeeded.
    pub when_pipeline_succeeds: bool,
}

/// What the state of a merge request allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Now,
    /// Waits for its pipeline.
    Later,
}

/// Merges a merge request, or lets it wait for its pipeline.
///
/// # Errors
/// The refusals of the contract: 401, 405, 406, 409 and 422, looked for in this order.
pub async fn accept(
    app: &App,
    grant: &Grant<ReadMergeRequests>,
    caller: &User,
    iid: i64,
    wish: Wish,
) -> ApiResult<MergeRequest> {
    let found = {
        let grant = grant.clone();
        app.db.read(move |tx| {
            let row = actions::find(tx, &grant, iid)?;
            if may_merge(tx, grant.who(), &row)? { Ok(row) } else { Err(Error::Unauthenticated) }
        })
    };
    let id = found.await?.id;
    let row = look(app, id).await?;
    let way = way(app, row.clone(), wish.when_pipeline_succeeds).await?;
    let Some(sides) = look_now(app, id).await? else { return Err(ApiError::CannotBeMerged) };
    if !run::can_move(app, &row, &sides).await? {
        return Err(ApiError::CannotBeMerged);
    }
    let head = sides.head.to_string();
    if wish.how.sha.as_ref().is_some_and(|seen| *seen != head) {
        let text = format!("SHA does not match HEAD of source branch: {head}");
        return Err(Error::Conflict(text).into());
    }
    match way {
        Way::Later => {
            let how = AutoMerge { sha: Some(head), ..wish.how };
            let by = caller.id;
            Ok(app.db.write(move |tx| auto::set(tx, id, by, &how)).await?)
        }
        Way::Now => {
            let by = By { facts: grant.facts().clone(), who: *grant.who(), user: caller.clone() };
            match run::merge(app, row, by, wish.how).await? {
                Ok(merged) => Ok(merged),
                Err(_reason) => Err(Error::Unfit("Branch cannot be merged".to_owned()).into()),
            }
        }
    }
}

async fn way(app: &App, row: MergeRequest, when_pipeline_succeeds: bool) -> ApiResult<Way> {
    let facts = app.db.read(move |tx| facts(tx, &row)).await?;
    let not_allowed = || Error::NotAllowed("405 Method Not Allowed".to_owned());
    match (when_pipeline_succeeds, facts.pipeline) {
        (false, _) if facts.is_mergeable() => Ok(Way::Now),
        (true, HeadPipeline::Active) if facts.is_mergeable_but_for_pipeline() => Ok(Way::Later),
        (true, HeadPipeline::Succeeded) if facts.is_mergeable() => Ok(Way::Now),
        // The pipeline would do, and something else does not.
        (true, HeadPipeline::Succeeded) => Err(ApiError::CannotBeMerged),
        _ => Err(not_allowed().into()),
    }
}

/// # Errors
/// `Unauthenticated` for those who may not merge into the target.
pub fn ensure_may_merge(tx: &mut db::Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<()> {
    if may_merge(tx, who, row)? { Ok(()) } else { Err(Error::Unauthenticated) }
}
