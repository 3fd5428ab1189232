//! Lists of issues: everywhere, in a group, in a project; and how many there are.

use entities::review::{
    issue::{IssueEntity, IssueView},
    issue_statistics::IssueStatisticsEntity,
    item::ReferenceScope,
};
use forge::ports::review::OrgHierarchy;
use kernel::{
    Actor, Error, Grant, Result, Standing, access::Anyone, ids::ProjectId, page::PageRequest,
};
use org::policy::{ReadGroup, ReadProject};
use review::{
    issue::list::{IssueQuery, IssueSet, count, list},
    policy::ReadIssues,
};

use super::issue_list_params::{ArchiveFilter, IssueFilters, IssueScope, ShowIssues, filter};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Json, PagedList},
    routes,
};

routes! { "Issues" at "";
    GET "/issues"                            => everywhere          : Anyone,
    GET "/groups/{id}/issues"                => of_group            : ReadGroup,
    GET "/projects/{id}/issues"              => of_project          : ReadProject,
    GET "/issues_statistics"                 => count_everywhere    : Anyone,
    GET "/groups/{id}/issues_statistics"     => count_of_group      : ReadGroup,
    GET "/projects/{id}/issues_statistics"   => count_of_project    : ReadProject,
}

type Filters = (IssueFilters, (ShowIssues, ArchiveFilter));
type Issues = ApiResult<PagedList<IssueEntity>>;
type Statistics = ApiResult<Json<IssueStatisticsEntity>>;

/// The scope and the caller of a list.
#[derive(Clone)]
struct ListContext {
    actor: Actor,
    home: ListScope,
    /// Whose issues are meant where nothing is said.
    scope: IssueScope,
    archived: bool,
}

#[derive(Clone)]
enum ListScope {
    Everywhere,
    /// By its full path.
    Group(String),
    Project(ProjectId, Standing),
}

impl ListContext {
    /// # Errors
    /// `Unauthenticated` where somebody asks for their own who is nobody.
    fn everywhere(
        actor: Actor,
        (_, filter): &IssueFilters,
        archived: &ArchiveFilter,
    ) -> Result<Self> {
        let scope = filter.scope.unwrap_or(IssueScope::CreatedByMe);
        if actor.id.is_none() && scope != IssueScope::All {
            return Err(Error::unauthenticated());
        }
        Ok(Self { actor, home: ListScope::Everywhere, scope, archived: !archived.non_archived })
    }

    fn group(grant: &Grant<ReadGroup>, archived: &ArchiveFilter) -> Self {
        let home = ListScope::Group(grant.group_facts().full_path.clone());
        let archived = !archived.non_archived;
        Self { actor: grant.actor(), home, scope: IssueScope::All, archived }
    }

    fn project(grant: &Grant<ReadProject>) -> Self {
        let home = ListScope::Project(grant.project(), *grant.who());
        Self { actor: grant.actor(), home, scope: IssueScope::All, archived: true }
    }

    fn among(&self) -> IssueSet<'_> {
        match &self.home {
            ListScope::Everywhere => IssueSet::Everywhere,
            ListScope::Group(path) => IssueSet::Group(path),
            ListScope::Project(project, who) => IssueSet::Project(*project, who),
        }
    }

    fn from(&self) -> ReferenceScope {
        match &self.home {
            ListScope::Group(path) => ReferenceScope::Group(path.clone()),
            _ => ReferenceScope::Home,
        }
    }
}

async fn everywhere(app: App, call: Call<Anyone, Filters>) -> Issues {
    let (wanted, (show, archived)) = call.params;
    let place = ListContext::everywhere(call.grant.actor(), &wanted, &archived)?;
    listed(&app, place, wanted, show, call.page).await
}

async fn of_group(app: App, call: Call<ReadGroup, Filters>) -> Issues {
    let (wanted, (show, archived)) = call.params;
    listed(&app, ListContext::group(&call.grant, &archived), wanted, show, call.page).await
}

/// Who may not read the issues of a project that they see finds none there.
async fn of_project(app: App, call: Call<ReadProject, (IssueFilters, ShowIssues)>) -> Issues {
    if call.grant.also::<ReadIssues>().is_err() {
        return Ok(PagedList(call.page.slice(Vec::new())));
    }
    let (wanted, show) = call.params;
    listed(&app, ListContext::project(&call.grant), wanted, show, call.page).await
}

async fn listed(
    app: &App,
    place: ListContext,
    wanted: IssueFilters,
    show: ShowIssues,
    page: PageRequest,
) -> Issues {
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        let filter = filter(wanted, tx, place.actor.id, place.scope, show.state())?;
        let ListContext { actor, archived, .. } = place;
        let asked = IssueQuery { actor, among: place.among(), archived, filter: &filter };
        let found = list(tx, &OrgHierarchy, &asked, show.sorting(), page)?;
        let with_labels_details = show.with_labels_details;
        let view = IssueView { from: place.from(), with_labels_details, ..IssueView::of(actor) };
        found.try_map_all(|issues| IssueEntity::all(tx, &urls, issues, &view))
    });
    Ok(PagedList(found.await?))
}

async fn count_everywhere(
    app: App,
    call: Call<Anyone, (IssueFilters, ArchiveFilter)>,
) -> Statistics {
    let (wanted, archived) = call.params;
    let place = ListContext::everywhere(call.grant.actor(), &wanted, &archived)?;
    counted(&app, place, wanted).await
}

async fn count_of_group(
    app: App,
    call: Call<ReadGroup, (IssueFilters, ArchiveFilter)>,
) -> Statistics {
    let (wanted, archived) = call.params;
    counted(&app, ListContext::group(&call.grant, &archived), wanted).await
}

async fn count_of_project(app: App, call: Call<ReadProject, IssueFilters>) -> Statistics {
    if call.grant.also::<ReadIssues>().is_err() {
        return Ok(Json(IssueStatisticsEntity::of(0, 0)));
    }
    counted(&app, ListContext::project(&call.grant), call.params).await
}

async fn counted(app: &App, place: ListContext, wanted: IssueFilters) -> Statistics {
    let found = app.db.read(move |tx| {
        let filter = filter(wanted, tx, place.actor.id, place.scope, None)?;
        let ListContext { actor, archived, .. } = place;
        let asked = IssueQuery { actor, among: place.among(), archived, filter: &filter };
        let (opened, closed) = count(tx, &OrgHierarchy, &asked)?;
        Ok(IssueStatisticsEntity::of(opened, closed))
    });
    Ok(Json(found.await?))
}
