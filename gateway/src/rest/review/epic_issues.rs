//! Issues of epics.

use db::Tx;
use entities::review::{
    epic::{EpicIssueEntity, EpicIssueLinkEntity},
    issue::IssueView,
    item::ReferenceScope,
};
use forge::{
    ports::{directory::Directory, review::OrgHierarchy},
    urls::Urls,
};
use kernel::{
    Actor, Result,
    access::GroupFacts,
    page::{Page, PageRequest},
};
use review::{
    epic::{Epic, actions, issues},
    issue::list::{IssueFilter, IssueQuery, IssueSet, list},
    item::list::{Choice, Direction, Order, Sorting},
    policy::{ManageGroupEpics, ReadGroupEpics},
};

use super::epic_params::{OneEpic, OneEpicIssue, OneIssueToAdd, ReorderEpicIssue};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Epics" at "/groups/{id}/epics/{epic_iid}/issues";
    GET    ""                  => of_epic   : ReadGroupEpics,
    POST   "/{issue_id}"       => add       : ManageGroupEpics,
    PUT    "/{epic_issue_id}"  => reordered : ManageGroupEpics,
    DELETE "/{epic_issue_id}"  => remove    : ManageGroupEpics,
}

/// As people ordered them.
const GIVEN: Sorting =
    Sorting { by: Order::Optional("epic_position"), direction: Direction::Ascending };

/// Those issues of an epic that somebody may read, wherever they are.
fn listed(
    tx: &mut Tx<'_>,
    urls: &Urls,
    (actor, group): (Actor, &GroupFacts),
    epic: &Epic,
    page: PageRequest,
) -> Result<Page<EpicIssueEntity>> {
    let filter = IssueFilter { epic: Some(Choice::These(epic.id)), ..IssueFilter::default() };
    let asked = IssueQuery { actor, among: IssueSet::Everywhere, archived: true, filter: &filter };
    let found = list(tx, &OrgHierarchy, &asked, GIVEN, page)?;
    let from = ReferenceScope::Group(group.full_path.clone());
    let view = IssueView { from, ..IssueView::of(actor) };
    found.try_map_all(|issues| EpicIssueEntity::all(tx, urls, issues, &view))
}

async fn of_epic(
    app: App,
    call: Call<ReadGroupEpics, (OneEpic, OnlyPage)>,
) -> ApiResult<PagedList<EpicIssueEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let epic = actions::read(tx, &grant, one.epic_iid)?;
        listed(tx, &urls, (grant.actor(), grant.group_facts()), &epic, page)
    });
    Ok(PagedList(found.await?))
}

async fn add(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, OneIssueToAdd)>,
) -> ApiResult<Created<EpicIssueLinkEntity>> {
    let (grant, (one, other)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let added = app.db.write(move |tx| {
        let both = issues::add(tx, &grant, &directory, one.epic_iid, other.issue_id)?;
        let group = &grant.group_facts().full_path;
        EpicIssueLinkEntity::new(tx, &urls, both, group, grant.actor())
    });
    Ok(Created(added.await?))
}

async fn reordered(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, (OneEpicIssue, ReorderEpicIssue))>,
) -> ApiResult<Json<Vec<EpicIssueEntity>>> {
    let (grant, (one, (inside, asked))) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let placed = app.db.write(move |tx| {
        let (issue, between) = (inside.epic_issue_id, asked.between());
        let epic = issues::reorder(tx, &grant, &directory, one.epic_iid, issue, between)?;
        let around = (grant.actor(), grant.group_facts().as_ref());
        Ok(listed(tx, &urls, around, &epic, PageRequest::default())?.items)
    });
    Ok(Json(placed.await?))
}

async fn remove(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, OneEpicIssue)>,
) -> ApiResult<Json<EpicIssueLinkEntity>> {
    let (grant, (one, inside)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let left = app.db.write(move |tx| {
        let both = issues::remove(tx, &grant, &directory, one.epic_iid, inside.epic_issue_id)?;
        let group = &grant.group_facts().full_path;
        EpicIssueLinkEntity::new(tx, &urls, both, group, grant.actor())
    });
    Ok(Json(left.await?))
}
