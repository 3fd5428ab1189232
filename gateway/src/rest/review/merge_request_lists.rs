//! Lists of merge requests: of a project, of a group, and of all.

use db::Tx;
use deployments::{deployment::actions, policy::ReadDeployments};
use entities::review::{
    item::ReferenceScope,
    merge_request::{MergeRequestEntity, MergeRequestView, SimpleMergeRequestEntity},
};
use forge::{merge_request::merge::recheck, ports::review::OrgHierarchy};
use kernel::{
    Ability, Actor, Grant, Result,
    access::SignedIn,
    ids::{DeploymentId, ProjectId},
    page::{Page, PageRequest},
};
use org::hierarchy::group_paths;
use review::{
    Milestones, ReadGrant,
    item::list::{Choice, Common, Direction, MilestoneChoice, Order, Sorting},
    merge_request::{
        MergeRequest, MergeRequestStore,
        list::{MergeRequestFilter, MergeRequestQuery, MergeRequestSet, list},
    },
    milestone,
    policy::{
        ListMergeRequests, ManageMergeRequests, ReadGroupMergeRequests, ReadGroupMilestones,
        ReadMilestones,
    },
    ports::DeploymentCondition,
};

use super::{
    issue_list_params::ArchiveFilter,
    merge_request_list_params::{
        MergeRequestFilters, MergeRequestForm, MergeRequestScope, ShowMergeRequests, filter,
    },
    milestone_params::OneMilestone,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Either, PagedList},
    routes,
};

routes! { "Merge request lists" at "";
    GET "/merge_requests"               => everywhere : SignedIn,
    GET "/groups/{id}/merge_requests"   => of_group   : ReadGroupMergeRequests,
    GET "/projects/{id}/merge_requests" => of_project : ListMergeRequests also JobToken,
    GET "/projects/{id}/milestones/{milestone_id}/merge_requests" => of_milestone : ReadMilestones,
    GET "/groups/{id}/milestones/{milestone_id}/merge_requests"   => of_milestone : ReadGroupMilestones,
    GET "/projects/{id}/deployments/{deployment_id}/merge_requests" => of_deployment : ReadDeployments,
}

params! {
    struct OneDeployment {
        deployment_id: DeploymentId,
    }
}

type ListAnswer = Either<PagedList<MergeRequestEntity>, PagedList<SimpleMergeRequestEntity>>;

async fn everywhere(
    app: App,
    call: Call<SignedIn, (MergeRequestFilters, ShowMergeRequests)>,
) -> ApiResult<ListAnswer> {
    let (wanted, show) = call.params;
    let place = ListContext { within: ListHome::Everywhere, archived: true, may_recheck: true };
    merge_request_page(app, call.grant.actor(), place, wanted, show, call.page).await
}

async fn of_group(
    app: App,
    call: Call<ReadGroupMergeRequests, ((MergeRequestFilters, ShowMergeRequests), ArchiveFilter)>,
) -> ApiResult<ListAnswer> {
    let ((wanted, show), archived) = call.params;
    let path = call.grant.group_facts().full_path.clone();
    let archived = !archived.non_archived;
    let place = ListContext { within: ListHome::Group(path), archived, may_recheck: true };
    merge_request_page(app, call.grant.actor(), place, wanted, show, call.page).await
}

async fn of_project(
    app: App,
    call: Call<ListMergeRequests, (MergeRequestFilters, ShowMergeRequests)>,
) -> ApiResult<ListAnswer> {
    let (wanted, show) = call.params;
    let may_recheck = call.grant.also::<ManageMergeRequests>().is_ok();
    let within = ListHome::Project(call.grant.project());
    let place = ListContext { within, archived: true, may_recheck };
    merge_request_page(app, call.grant.actor(), place, wanted, show, call.page).await
}

/// Merge requests that came to the environment with a deployment.
async fn of_deployment(
    app: App,
    call: Call<ReadDeployments, (OneDeployment, (MergeRequestFilters, ShowMergeRequests))>,
) -> ApiResult<ListAnswer> {
    let (grant, (one, (wanted, show)), page) = (call.grant, call.params, call.page);
    let reader = grant.also::<ListMergeRequests>()?;
    let found = app.db.read(move |tx| actions::read(tx, &grant, one.deployment_id)).await?;
    let within = ListHome::Deployment(reader.project(), found.id);
    let place = ListContext { within, archived: true, may_recheck: false };
    merge_request_page(app, reader.actor(), place, wanted, show, page).await
}

/// The scope of a list, and whether git may be asked for it.
#[derive(Clone)]
struct ListContext {
    within: ListHome,
    archived: bool,
    may_recheck: bool,
}

#[derive(Clone)]
enum ListHome {
    Project(ProjectId),
    /// What was brought somewhere.
    Deployment(ProjectId, DeploymentId),
    Group(String),
    Everywhere,
}

impl ListHome {
    fn among(&self) -> MergeRequestSet<'_> {
        match self {
            Self::Project(id) | Self::Deployment(id, _) => MergeRequestSet::Project(*id),
            Self::Group(path) => MergeRequestSet::Group(path),
            Self::Everywhere => MergeRequestSet::Everywhere,
        }
    }

    /// Whose merge requests are meant where nobody says it.
    fn scope(&self) -> MergeRequestScope {
        match self {
            Self::Everywhere => MergeRequestScope::CreatedByMe,
            Self::Project(_) | Self::Deployment(..) | Self::Group(_) => MergeRequestScope::All,
        }
    }

    fn seen_from(self) -> ReferenceScope {
        match self {
            Self::Group(path) => ReferenceScope::Group(path),
            Self::Project(_) | Self::Deployment(..) | Self::Everywhere => ReferenceScope::Home,
        }
    }
}

async fn merge_request_page(
    app: App,
    actor: Actor,
    place: ListContext,
    wanted: MergeRequestFilters,
    show: ShowMergeRequests,
    page: PageRequest,
) -> ApiResult<ListAnswer> {
    let urls = app.urls.clone();
    if show.view == Some(MergeRequestForm::Simple) {
        let found = app.db.read(move |tx| {
            let rows = rows(tx, actor, &place, wanted, &show, page)?;
            rows.try_map_all(|rows| SimpleMergeRequestEntity::all(tx, &urls, rows))
        });
        return Ok(Either::Right(PagedList(found.await?)));
    }
    let recheck = show.with_merge_status_recheck && place.may_recheck;
    let found = app.db.read(move |tx| {
        let rows = rows(tx, actor, &place, wanted, &show, page)?;
        let view = MergeRequestView {
            from: place.within.seen_from(),
            with_labels_details: show.with_labels_details,
            render_html: show.render_html,
        };
        rows.try_map_all(|rows| MergeRequestEntity::all(tx, &urls, rows, &view))
    });
    let found = found.await?;
    if recheck {
        ask_again(&app, &found.items).await?;
    }
    Ok(Either::Left(PagedList(found)))
}

/// Lets git be asked about those of a list that changed since it was asked.
async fn ask_again(app: &App, shown: &[MergeRequestEntity]) -> Result<()> {
    let open = shown.iter().filter(|one| one.merge_status.is_open()).map(|one| one.id);
    let open: Vec<i64> = open.collect();
    if open.is_empty() {
        return Ok(());
    }
    let asked = app.db.write(move |tx| {
        let rows = tx.merge_requests_in_order(&open)?;
        rows.iter().try_for_each(|row| recheck(tx, row))
    });
    asked.await
}

/// Those of a milestone that the caller may read, the most urgent first.
async fn of_milestone<A: Ability>(
    app: App,
    call: Call<A, (OneMilestone, OnlyPage)>,
) -> ApiResult<PagedList<MergeRequestEntity>>
where
    Grant<A>: ReadGrant<Milestones>,
{
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let milestone = milestone::actions::read(tx, &grant, one.milestone_id)?;
        let only = Choice::These(MilestoneChoice::OneOf(vec![milestone.id]));
        let common = Common { milestone: Some(only), ..Common::default() };
        let filter = MergeRequestFilter { common, ..MergeRequestFilter::default() };
        let actor = grant.actor();
        let asked = MergeRequestQuery {
            actor,
            among: MergeRequestSet::Everywhere,
            archived: true,
            filter: &filter,
        };
        let urgent = Sorting { by: Order::LabelPriority, direction: Direction::Ascending };
        let rows = list(tx, &OrgHierarchy, &asked, urgent, page)?;
        let from = match milestone.namespace_id {
            None => ReferenceScope::Home,
            Some(group) => {
                ReferenceScope::Group(group_paths(tx, &[group])?.remove(&group).unwrap_or_default())
            }
        };
        let view = MergeRequestView { from, ..MergeRequestView::default() };
        rows.try_map_all(|rows| MergeRequestEntity::all(tx, &urls, rows, &view))
    });
    Ok(PagedList(found.await?))
}

fn rows(
    tx: &mut Tx<'_>,
    actor: Actor,
    place: &ListContext,
    wanted: MergeRequestFilters,
    show: &ShowMergeRequests,
    page: PageRequest,
) -> Result<Page<MergeRequest>> {
    let mut filter = filter(wanted, tx, actor.id, place.within.scope(), show.state())?;
    match place.within {
        ListHome::Deployment(_, deployment) => {
            let asked = filter.deployed.unwrap_or_default();
            filter.deployed = Some(DeploymentCondition { deployment: Some(deployment), ..asked });
        }
        ListHome::Project(project) => {
            filter.deployed = filter
                .deployed
                .map(|asked| DeploymentCondition { project: Some(project), ..asked });
        }
        ListHome::Group(_) | ListHome::Everywhere => {}
    }
    let asked = MergeRequestQuery {
        actor,
        among: place.within.among(),
        archived: place.archived,
        filter: &filter,
    };
    list(tx, &OrgHierarchy, &asked, show.sorting(), page)
}
