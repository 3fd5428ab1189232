//! Iterations of groups, and those that projects can use.

use db::Tx;
use entities::review::iteration::IterationEntity;
use forge::ports::review::OrgHierarchy;
use kernel::{Actor, Result, Ts, page::PageRequest};
use review::{
    Home,
    iteration::{
        IterationState,
        list::{IterationFilter, Search, list},
    },
    policy::{ReadGroupIterations, ReadIssues},
    ports::GroupHierarchy as _,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    param_enums, params,
    present::PagedList,
    routes,
};

routes! { "Iterations" at "";
    GET "/groups/{id}/iterations"   => of_group   : ReadGroupIterations,
    GET "/projects/{id}/iterations" => of_project : ReadIssues,
}

kernel::text_enum! {
    /// Which states a list shows.
    pub enum IterationStates {
        Opened = "opened",
        Upcoming = "upcoming",
        Current = "current",
        Closed = "closed",
        All = "all",
    }
}

kernel::text_enum! {
    /// Where a list looks for words.
    pub enum SearchedTitles { Title = "title", CadenceTitle = "cadence_title" }
}

param_enums! { IterationStates, SearchedTitles }

params! {
    pub struct ListIterations: paged {
        state: IterationStates = IterationStates::All,
        /// Part of the title.
        search: Option<String>,
        /// Where to search: title of the iteration, title of its cadence, or both.
        r#in: Option<Csv<SearchedTitles>>,
        include_ancestors: bool = true,
        include_descendants: bool = false,
        updated_before: Option<Ts>,
        updated_after: Option<Ts>,
    }
}

impl ListIterations {
    fn filter(self, tx: &mut Tx<'_>, actor: Actor, home: Home) -> Result<IterationFilter> {
        let mut groups: Vec<_> = home.group().into_iter().collect();
        if self.include_ancestors {
            groups.extend(OrgHierarchy.above(tx, home)?);
        } else if home.group().is_none() {
            groups.extend(OrgHierarchy.above(tx, home)?.first());
        }
        if let Some(group) = home.group().filter(|_| self.include_descendants) {
            groups.extend(OrgHierarchy.below(tx, actor, group)?);
        }
        let within = self.r#in.map_or_else(Vec::new, |within| within.0);
        let search = self.search.filter(|text| !text.is_empty()).map(|text| Search {
            text,
            in_title: within.is_empty() || within.contains(&SearchedTitles::Title),
            in_cadence_title: within.contains(&SearchedTitles::CadenceTitle),
        });
        Ok(IterationFilter {
            groups,
            states: match self.state {
                IterationStates::Opened => {
                    Some(vec![IterationState::Upcoming, IterationState::Current])
                }
                IterationStates::Upcoming => Some(vec![IterationState::Upcoming]),
                IterationStates::Current => Some(vec![IterationState::Current]),
                IterationStates::Closed => Some(vec![IterationState::Closed]),
                IterationStates::All => None,
            },
            search,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            ..IterationFilter::default()
        })
    }
}

type Iterations = ApiResult<PagedList<IterationEntity>>;

async fn of_group(app: App, call: Call<ReadGroupIterations, ListIterations>) -> Iterations {
    let place = (call.grant.actor(), Home::Group(call.grant.group()));
    listed(&app, place, call.params, call.page).await
}

async fn of_project(app: App, call: Call<ReadIssues, ListIterations>) -> Iterations {
    let place = (call.grant.actor(), Home::Project(call.grant.project()));
    listed(&app, place, call.params, call.page).await
}

async fn listed(
    app: &App,
    (actor, home): (Actor, Home),
    params: ListIterations,
    page: PageRequest,
) -> Iterations {
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        let filter = params.filter(tx, actor, home)?;
        let found = list(tx, &OrgHierarchy, actor, &filter, page)?;
        found.try_map_all(|iterations| IterationEntity::all(tx, &urls, iterations))
    });
    Ok(PagedList(found.await?))
}
