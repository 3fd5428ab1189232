//! Issues that have to do with each other.

use entities::review::{
    issue::IssueView,
    issue_link::{IssueLinkEntity, RelatedIssueEntity},
};
use forge::ports::directory::Directory;
use kernel::{Ability, Grant, access::Project, ids::ProjectId};
use org::access::{IdOrPath, locate_project};
use review::{
    issue::{
        actions::read,
        link::{LinkType, actions},
    },
    policy::{CreateIssues, ReadIssueLinks, ReadIssues},
};

use super::issue_params::OneIssue;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, OrNull},
    param_enums, params,
    present::{Created, Json},
    routes,
};

routes! { "Issue links" at "/projects/{id}/issues/{issue_iid}/links";
    GET    ""                  => list   : ReadIssues,
    POST   ""                  => create : CreateIssues,
    GET    "/{issue_link_id}"  => show   : ReadIssueLinks,
    DELETE "/{issue_link_id}"  => remove : CreateIssues,
}

param_enums! { LinkType }

params! {
    pub struct CreateLink {
        /// ID or full path of the project; null for the current project.
        target_project_id: OrNull<String>,
        /// IID of the other issue.
        target_issue_iid: i64,
        link_type: LinkType = LinkType::RelatesTo,
    }
}

params! {
    pub struct OneLink {
        issue_link_id: i64,
    }
}

fn seen_from<A: Ability<Scope = Project>>(grant: &Grant<A>) -> IssueView {
    IssueView::in_project(grant.actor(), &grant.facts().full_path)
}

async fn list(
    app: App,
    call: Call<ReadIssues, OneIssue>,
) -> ApiResult<Json<Vec<RelatedIssueEntity>>> {
    let (grant, iid) = (call.grant, call.params.issue_iid);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let issue = read(tx, grant.who(), grant.project(), iid)?;
        let related = actions::list(tx, &directory, grant.who(), &issue)?;
        RelatedIssueEntity::all(tx, &urls, related, &seen_from(&grant))
    });
    Ok(Json(found.await?))
}

async fn create(
    app: App,
    call: Call<CreateIssues, (OneIssue, CreateLink)>,
) -> ApiResult<Created<IssueLinkEntity>> {
    let (grant, (one, asked)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let made = app.db.write(move |tx| {
        let issue = read(tx, grant.who(), grant.project(), one.issue_iid)?;
        let own = || IdOrPath::Id(grant.project().0);
        let id = asked.target_project_id.0.as_deref().map_or_else(own, IdOrPath::parse);
        let project = match locate_project(tx, grant.actor(), &id) {
            Ok((project, _)) => project.0.id,
            // The use case tells that there is no such issue.
            Err(gone) if gone.is_gone() => ProjectId(0),
            Err(other) => return Err(other),
        };
        let target = (project, asked.target_issue_iid);
        let made = actions::create(tx, &directory, grant.who(), &issue, target, asked.link_type)?;
        IssueLinkEntity::one(tx, &urls, made, &seen_from(&grant))
    });
    Ok(Created(made.await?))
}

async fn show(
    app: App,
    call: Call<ReadIssueLinks, (OneIssue, OneLink)>,
) -> ApiResult<Json<IssueLinkEntity>> {
    let (grant, (one, link)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let issue = read(tx, grant.who(), grant.project(), one.issue_iid)?;
        let linked = actions::read(tx, &directory, grant.who(), &issue, link.issue_link_id)?;
        IssueLinkEntity::one(tx, &urls, linked, &seen_from(&grant))
    });
    Ok(Json(found.await?))
}

async fn remove(
    app: App,
    call: Call<CreateIssues, (OneIssue, OneLink)>,
) -> ApiResult<Json<IssueLinkEntity>> {
    let (grant, (one, link)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let gone = app.db.write(move |tx| {
        let issue = read(tx, grant.who(), grant.project(), one.issue_iid)?;
        let linked = actions::remove(tx, &directory, grant.who(), &issue, link.issue_link_id)?;
        IssueLinkEntity::one(tx, &urls, linked, &seen_from(&grant))
    });
    Ok(Json(gone.await?))
}
