//! Issues and merge requests of a milestone.

use entities::review::{
    issue::{IssueEntity, IssueView},
    item::ReferenceScope,
};
use forge::ports::review::OrgHierarchy;
use kernel::{Actor, Result, ids::MilestoneId, page::PageRequest};
use review::{
    issue::list::{IssueFilter, IssueQuery, IssueSet, list},
    item::list::{Choice, Common, Direction, MilestoneChoice, Order, Sorting},
    milestone::actions,
    policy::{ReadGroupMilestones, ReadIssues, ReadMilestones},
};

use super::milestone_params::OneMilestone;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::PagedList,
    routes,
};

routes! { "Milestones" at "";
    GET "/projects/{id}/milestones/{milestone_id}/issues" => issues_of_project : ReadMilestones,
    GET "/groups/{id}/milestones/{milestone_id}/issues"   => issues_of_group   : ReadGroupMilestones,
}

type Issues = ApiResult<PagedList<IssueEntity>>;

/// The most urgent labels come first.
const URGENT: Sorting = Sorting { by: Order::LabelPriority, direction: Direction::Ascending };

fn of(milestone: MilestoneId) -> IssueFilter {
    let milestone = Choice::These(MilestoneChoice::OneOf(vec![milestone]));
    let common = Common { milestone: Some(milestone), ..Common::default() };
    IssueFilter { common, ..IssueFilter::default() }
}

async fn issues_of_project(
    app: App,
    call: Call<ReadMilestones, (OneMilestone, OnlyPage)>,
) -> Issues {
    let (grant, id, page) = (call.grant, call.params.0.milestone_id, call.page);
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        actions::read(tx, &grant, id)?;
        if grant.also::<ReadIssues>().is_err() {
            return Ok(page.slice(Vec::new()));
        }
        let among = IssueSet::Project(grant.project(), grant.who());
        let found = listed(tx, grant.actor(), among, id, page)?;
        let view = IssueView::of(grant.actor());
        found.try_map_all(|issues| IssueEntity::all(tx, &urls, issues, &view))
    });
    Ok(PagedList(found.await?))
}

async fn issues_of_group(
    app: App,
    call: Call<ReadGroupMilestones, (OneMilestone, OnlyPage)>,
) -> Issues {
    let (grant, id, page) = (call.grant, call.params.0.milestone_id, call.page);
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        actions::read(tx, &grant, id)?;
        let path = grant.group_facts().full_path.clone();
        let found = listed(tx, grant.actor(), IssueSet::Group(&path), id, page)?;
        let view = IssueView { from: ReferenceScope::Group(path), ..IssueView::of(grant.actor()) };
        found.try_map_all(|issues| IssueEntity::all(tx, &urls, issues, &view))
    });
    Ok(PagedList(found.await?))
}

fn listed(
    tx: &mut db::Tx<'_>,
    actor: Actor,
    among: IssueSet<'_>,
    milestone: MilestoneId,
    page: PageRequest,
) -> Result<kernel::page::Page<review::issue::Issue>> {
    let filter = of(milestone);
    let asked = IssueQuery { actor, among, archived: true, filter: &filter };
    list(tx, &OrgHierarchy, &asked, URGENT, page)
}
