//! Lists of projects: all, somebody's, starred ones, forks, a group's.

use db::Tx;
use entities::org::project::ProjectForm;
use forge::user::visibility::reads_profile;
use kernel::{
    Ability, AccessLevel, Actor, Error, Ts, Visibility,
    access::Anyone,
    page::{Page, PageRequest},
};
use org::{
    access::IdOrPath,
    custom_attribute::store::{CustomAttributeStore, NotesById},
    namespace::store::NamespaceStore,
    policy::ReadProject,
    project::{
        Detail, Project,
        list::{Order, OrderBy, ProjectFilter, ProjectLists, ProjectSet, Sort},
        view,
    },
    user::{User, store::UserStore},
};
use review::{
    activity::feed::contributed_to,
    issue::open_count::{OpenIssueStore, OpenIssues},
};
use security::scan::has_reports;

use super::{
    custom_attribute_params::{AttributeFilter, entities},
    project_params::both,
    projects::add_related,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv, ParamErrors, Params, RawMap, no_keyset, params::ParamDoc},
    param_enums, params,
    present::{Either, KeysetList, PagedList},
    routes,
};

routes! { "Projects" at "";
    GET "/projects"                        => list            : Anyone,
    GET "/users/{user_id}/projects"         => list_of_user    : Anyone,
    GET "/users/{user_id}/starred_projects" => list_of_starred : Anyone,
    GET "/users/{user_id}/contributed_projects" => list_of_contributed : Anyone,
    GET "/projects/{id}/forks"              => list_of_forks   : ReadProject,
}

param_enums! { OrderBy, Sort }

params! {
    /// Which projects, in which order, and how much of each.
    pub struct ListProjects: keyset {
        archived: Option<bool>,
        visibility: Option<Visibility>,
        search: Option<String>,
        search_namespaces: Option<bool>,
        owned: bool = false,
        starred: bool = false,
        imported: bool = false,
        membership: bool = false,
        with_issues_enabled: bool = false,
        with_merge_requests_enabled: bool = false,
        with_programming_language: Option<String>,
        min_access_level: Option<AccessLevel>,
        id_after: Option<i64>,
        id_before: Option<i64>,
        last_activity_after: Option<Ts>,
        last_activity_before: Option<Ts>,
        updated_after: Option<Ts>,
        updated_before: Option<Ts>,
        repository_storage: Option<String>,
        topic: Option<Csv<String>>,
        topic_id: Option<i64>,
        order_by: OrderBy = OrderBy::CreatedAt,
        sort: Sort = Sort::Descending,
        simple: bool = false,
        statistics: bool = false,
        with_custom_attributes: bool = false,
        custom_attributes: Option<AttributeFilter>,
    }
}

params! {
    struct UserProjects {
        user_id: String,
    }
}

/// Listing what a path names one place of.
#[derive(Clone, Debug)]
pub struct ScopedList<P> {
    place: P,
    list: ListProjects,
}

impl<P: Params> Params for ScopedList<P> {
    const PAGED: bool = true;
    const KEYSET: bool = true;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        both(raw).map(|(place, list)| Self { place, list })
    }

    fn describe() -> Vec<ParamDoc> {
        let mut docs = P::describe();
        docs.extend(ListProjects::describe());
        docs
    }

    fn defaults() -> Vec<(&'static str, String)> {
        let mut defaults = P::defaults();
        defaults.extend(ListProjects::defaults());
        defaults
    }
}

/// Counted pages, or pages found by their last id.
pub(super) type Projects = Either<PagedList<ProjectForm>, KeysetList<ProjectForm>>;

/// Projects, what administrators noted of each, and how many open issues these have.
type ProjectPage = (Vec<view::ProjectView>, NotesById, OpenIssues);

/// Further projects are to be found by their last id.
const FARTHEST: i64 = 50_000;
const TOO_FAR: &str = "Offset pagination has a maximum allowed offset of 50000 for requests that return objects of \
                       type Project. Remaining records can be retrieved using keyset pagination.";
const NOT_PAIRED: &str = "updated_at filter and updated_at sorting must be paired";

async fn list(app: App, call: Call<Anyone, ListProjects>) -> ApiResult<Projects> {
    answer(&app, ProjectQuery::of(&call, &call.params), ProjectSet::All).await
}

async fn list_of_user(
    app: App,
    call: Call<Anyone, ScopedList<UserProjects>>,
) -> ApiResult<Projects> {
    let user = person(&app, &call.params.place.user_id).await?;
    let home = app.db.peek(move |tx| tx.personal_namespace(user.id)).await?;
    let home = home.ok_or_else(|| Error::not_found("User"))?;
    let among = ProjectSet::Namespace(home.id);
    answer(&app, ProjectQuery::of(&call, &call.params.list), among).await
}

async fn list_of_starred(
    app: App,
    call: Call<Anyone, ScopedList<UserProjects>>,
) -> ApiResult<Projects> {
    let user = person(&app, &call.params.place.user_id).await?;
    let actor = call.grant.actor();
    // What a person keeps to themselves looks like nothing.
    let among = match reads_profile(actor, &user) {
        true => ProjectSet::StarredBy(user.id),
        false => ProjectSet::Nothing,
    };
    answer(&app, ProjectQuery::of(&call, &call.params.list), among).await
}

async fn list_of_contributed(
    app: App,
    call: Call<Anyone, ScopedList<UserProjects>>,
) -> ApiResult<Projects> {
    let user = person(&app, &call.params.place.user_id).await?;
    let among = match reads_profile(call.grant.actor(), &user) {
        true => ProjectSet::These(app.db.read(move |tx| contributed_to(tx, user.id)).await?),
        false => ProjectSet::Nothing,
    };
    answer(&app, ProjectQuery::of(&call, &call.params.list), among).await
}

async fn list_of_forks(app: App, call: Call<ReadProject, ListProjects>) -> ApiResult<Projects> {
    let among = ProjectSet::ForksOf(call.grant.project());
    answer(&app, ProjectQuery::of(&call, &call.params), among).await
}

/// The person that a path names by id or user name.
pub(super) async fn person(app: &App, named: &str) -> ApiResult<User> {
    let named = IdOrPath::parse(named);
    let found = app.db.peek(move |tx| match named {
        IdOrPath::Id(id) => tx.find_user(kernel::ids::UserId(id)),
        IdOrPath::Path(name) => tx.find_user_named(&name),
    });
    Ok(found.await?.ok_or_else(|| Error::not_found("User"))?)
}

/// What a list is asked for, without the place.
#[derive(Clone)]
pub(super) struct ProjectQuery {
    pub(super) actor: Actor,
    pub(super) page: PageRequest,
    pub(super) keyset: bool,
    pub(super) params: ListProjects,
    pub(super) with_security_reports: bool,
    /// Whether people without an account are shown the whole record, too.
    pub(super) whole: bool,
}

impl ProjectQuery {
    pub(super) fn of<A: Ability, P>(call: &Call<A, P>, params: &ListProjects) -> Self {
        Self {
            actor: call.grant.actor(),
            page: call.page,
            keyset: call.raw.text("pagination") == Some("keyset"),
            params: params.clone(),
            with_security_reports: false,
            whole: false,
        }
    }

    fn filter(&self, among: ProjectSet) -> ProjectFilter {
        let params = self.params.clone();
        ProjectFilter {
            among,
            archived: params.archived,
            visibility: params.visibility,
            search: params.search,
            search_namespaces: params.search_namespaces.unwrap_or_default(),
            owned: params.owned,
            starred: params.starred,
            imported: params.imported,
            membership: params.membership,
            with_issues: params.with_issues_enabled,
            with_merge_requests: params.with_merge_requests_enabled,
            language: params.with_programming_language.filter(|name| !name.is_empty()),
            min_access_level: params.min_access_level,
            id_after: params.id_after,
            id_before: params.id_before,
            last_activity_after: params.last_activity_after,
            last_activity_before: params.last_activity_before,
            updated_after: params.updated_after,
            updated_before: params.updated_before,
            ids: None,
            topics: params.topic.unwrap_or_default().0,
            topic_id: params.topic_id,
            repository_storage: params.repository_storage.filter(|_| self.actor.admin),
            attributes: AttributeFilter::of(params.custom_attributes, self.actor),
            with_security_reports: self.with_security_reports.then(|| has_reports("p.id")),
            with_coverage: None,
        }
    }

    /// The order, where the caller may have it; sizes are for administrators.
    fn order(&self) -> Order {
        let sizes = [
            OrderBy::RepositorySize,
            OrderBy::StorageSize,
            OrderBy::PackagesSize,
            OrderBy::WikiSize,
        ];
        let asked = self.params.order_by;
        let by = match sizes.contains(&asked) && !self.actor.admin {
            true => OrderBy::CreatedAt,
            false => asked,
        };
        Order { by, sort: self.params.sort }
    }

    fn want(&self) -> Detail {
        if self.params.simple || (self.actor.id.is_none() && !self.whole) {
            Detail::Basic
        } else {
            Detail::Full { statistics: self.params.statistics }
        }
    }

    /// What the page tells of its projects, and what administrators noted of these.
    fn shown(&self, tx: &mut Tx<'_>, found: Vec<Project>) -> kernel::Result<ProjectPage> {
        let ids: Vec<_> = found.iter().map(|project| project.id).collect();
        let shown = view::page(tx, self.actor, found, self.want())?;
        let notes = match self.params.with_custom_attributes && self.actor.admin {
            true => tx.custom_attributes_of_projects(&ids)?,
            false => NotesById::new(),
        };
        let open = match self.want() {
            Detail::Full { .. } => tx.open_issues(&ids)?,
            Detail::Basic => OpenIssues::default(),
        };
        Ok((shown, notes, open))
    }

    fn ensure_paired(&self) -> ApiResult<()> {
        let bounded = self.params.updated_after.or(self.params.updated_before).is_some();
        if bounded && self.params.order_by != OrderBy::UpdatedAt {
            return Err(Error::bad_request().because(NOT_PAIRED).into());
        }
        Ok(())
    }
}

pub(super) async fn answer(
    app: &App,
    asked: ProjectQuery,
    among: ProjectSet,
) -> ApiResult<Projects> {
    asked.ensure_paired()?;
    let attributes = asked.params.with_custom_attributes && asked.actor.admin;
    let present = |(found, mut notes, open): ProjectPage| -> Vec<ProjectForm> {
        let form = |shown: &view::ProjectView| {
            let mut record = ProjectForm::new(&app.urls, shown, &open);
            if attributes {
                let own = notes.remove(&shown.project.id.0).unwrap_or_default();
                record.basic_mut().custom_attributes = Some(entities(own));
            }
            record
        };
        found.iter().map(form).collect()
    };
    if asked.keyset {
        let (found, next) = after_the_last(app, asked, among).await?;
        let mut items = present(found);
        add_related(app, items.iter_mut().collect()).await?;
        return Ok(Either::Right(KeysetList { items, next }));
    }
    if asked.page.page.saturating_mul(asked.page.per_page) > FARTHEST {
        return Err(Error::not_allowed().parameters(TOO_FAR).into());
    }
    let page = app.db.read(move |tx| {
        let (filter, order) = (asked.filter(among), asked.order());
        let found = tx.projects(asked.actor, &filter, order, asked.page)?;
        let total = found.total;
        Ok((asked.shown(tx, found.items)?, total))
    });
    let (found, total) = page.await?;
    let mut items = present(found);
    add_related(app, items.iter_mut().collect()).await?;
    Ok(Either::Left(PagedList(Page { items, total })))
}

/// A page found by the id before it, and what asks for the next one.
async fn after_the_last(
    app: &App,
    asked: ProjectQuery,
    among: ProjectSet,
) -> ApiResult<(ProjectPage, Option<(&'static str, String)>)> {
    if asked.params.order_by != OrderBy::Id {
        return Err(no_keyset().into());
    }
    let parameter = match asked.params.sort {
        Sort::Ascending => "id_after",
        Sort::Descending => "id_before",
    };
    let found = app.db.read(move |tx| {
        let (filter, order) = (asked.filter(among), asked.order());
        let found = tx.first_projects(asked.actor, &filter, order, asked.page.per_page)?;
        asked.shown(tx, found)
    });
    let found = found.await?;
    let next = found.0.last().map(|last| (parameter, last.project.id.to_string()));
    Ok((found, next))
}
