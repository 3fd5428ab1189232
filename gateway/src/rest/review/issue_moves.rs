//! Moving, copying and ordering issues.

use entities::review::issue::IssueEntity;
use forge::ports::directory::Directory;
use kernel::{
    Error, Result,
    ids::{IssueId, ProjectId},
};
use review::{
    issue::{
        Issue, IssueStore as _, actions,
        order::{Neighbors, place},
        relocation::{Notes, copy, relocate},
    },
    item::is_readable_by,
    policy::{CreateIssues, ManageIssues},
};

use super::issue_params::OneIssue;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Json},
    routes,
};

routes! { "Issues" at "/projects/{id}/issues/{issue_iid}";
    POST "/move"    => relocated : CreateIssues,
    POST "/clone"   => cloned    : CreateIssues,
    PUT  "/reorder" => reordered : ManageIssues,
}

params! {
    pub struct MoveIssue {
        to_project_id: ProjectId,
    }
}

params! {
    pub struct CloneIssue {
        to_project_id: ProjectId,
        /// Whether to include its comments.
        with_notes: bool = false,
    }
}

params! {
    pub struct ReorderIssue {
        /// ID of the issue that comes after this one.
        move_after_id: Option<IssueId>,
        /// ID of the issue that comes before this one.
        move_before_id: Option<IssueId>,
    } with at_least_one("move_after_id", "move_before_id");
}

/// An issue that the caller may read.
fn issue_of_iid(
    tx: &mut db::Tx<'_>,
    grant: &kernel::Grant<CreateIssues>,
    iid: i64,
) -> Result<Issue> {
    match tx.find_issue(grant.project(), iid)? {
        Some(issue) if is_readable_by(tx, grant.who(), &issue.item())? => Ok(issue),
        _ => Err(Error::not_found("Issue")),
    }
}

async fn relocated(
    app: App,
    call: Call<CreateIssues, (OneIssue, MoveIssue)>,
) -> ApiResult<Created<IssueEntity>> {
    let (grant, (one, to)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let made = app.db.write(move |tx| {
        let issue = issue_of_iid(tx, &grant, one.issue_iid)?;
        let new = relocate(tx, &directory, grant.who(), &issue, to.to_project_id)?;
        IssueEntity::one(tx, &urls, new, grant.actor())
    });
    Ok(Created(made.await?))
}

async fn cloned(
    app: App,
    call: Call<CreateIssues, (OneIssue, CloneIssue)>,
) -> ApiResult<Created<IssueEntity>> {
    let (grant, (one, asked)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let notes = if asked.with_notes { Notes::Copy } else { Notes::Leave };
    let made = app.db.write(move |tx| {
        let issue = issue_of_iid(tx, &grant, one.issue_iid)?;
        let new = copy(tx, &directory, grant.who(), &issue, asked.to_project_id, notes)?;
        IssueEntity::one(tx, &urls, new, grant.actor())
    });
    Ok(Created(made.await?))
}

async fn reordered(
    app: App,
    call: Call<ManageIssues, (OneIssue, ReorderIssue)>,
) -> ApiResult<Json<IssueEntity>> {
    let (grant, (one, asked), urls) = (call.grant, call.params, app.urls.clone());
    let between = Neighbors { first: asked.move_before_id, second: asked.move_after_id };
    let placed = app.db.write(move |tx| {
        let issue = actions::read(tx, grant.who(), grant.project(), one.issue_iid)?;
        let Some(placed) = place(tx, &issue, between)? else { return Ok(None) };
        IssueEntity::one(tx, &urls, placed, grant.actor()).map(Some)
    });
    Ok(Json(placed.await?.ok_or_else(Error::unprocessable)?))
}
