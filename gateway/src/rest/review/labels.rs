//! Labels of projects and of groups. What both have is written once, for either kind of grant.

use db::Tx;
use entities::review::label::{LabelEntity, LabelView};
use forge::ports::review::OrgHierarchy;
use kernel::{Ability, Grant, page::PageRequest};
use org::hierarchy::group_paths;
use review::{
    Home, Labels, ManageGrant, ReadGrant, ScopedCaller,
    label::{
        LabelName,
        actions::{self, ListedLabels},
        counts::CountScope,
    },
    policy::{ManageGroupLabels, ManageLabels, ReadGroupLabels, ReadLabels},
};

use super::label_params::{
    ChangeLabel, CreateLabel, ListGroupLabels, ListLabels, NamedLabel, OneLabel,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Labels" at "";
    GET    "/projects/{id}/labels"                        => list         : ReadLabels,
    GET    "/projects/{id}/labels/{label_id}"             => show         : ReadLabels,
    POST   "/projects/{id}/labels"                        => create       : ManageLabels,
    PUT    "/projects/{id}/labels"                        => update_named : ManageLabels,
    PUT    "/projects/{id}/labels/{label_id}"             => update       : ManageLabels,
    DELETE "/projects/{id}/labels"                        => remove_named : ManageLabels,
    DELETE "/projects/{id}/labels/{label_id}"             => remove       : ManageLabels,
    PUT    "/projects/{id}/labels/{label_id}/promote"     => promote      : ManageLabels,
    POST   "/projects/{id}/labels/{label_id}/subscribe"   => subscribe    : ReadLabels,
    POST   "/projects/{id}/labels/{label_id}/unsubscribe" => unsubscribe  : ReadLabels,
    GET    "/groups/{id}/labels"                          => list_group   : ReadGroupLabels,
    GET    "/groups/{id}/labels/{label_id}"               => show         : ReadGroupLabels,
    POST   "/groups/{id}/labels"                          => create       : ManageGroupLabels,
    PUT    "/groups/{id}/labels"                          => update_named : ManageGroupLabels,
    PUT    "/groups/{id}/labels/{label_id}"               => update       : ManageGroupLabels,
    DELETE "/groups/{id}/labels"                          => remove_named : ManageGroupLabels,
    DELETE "/groups/{id}/labels/{label_id}"               => remove       : ManageGroupLabels,
    POST   "/groups/{id}/labels/{label_id}/subscribe"     => subscribe    : ReadGroupLabels,
    POST   "/groups/{id}/labels/{label_id}/unsubscribe"   => unsubscribe  : ReadGroupLabels,
}

fn view(grant: &impl ScopedCaller) -> kernel::Result<LabelView> {
    let (actor, project) = (grant.actor(), grant.home().project());
    Ok(LabelView { actor, user: grant.user()?, project, counted: None })
}

/// Where what carries the labels is counted.
fn counted_in(tx: &mut Tx<'_>, grant: &impl ScopedCaller) -> kernel::Result<Option<CountScope>> {
    Ok(match grant.home() {
        Home::Project(project) => Some(CountScope::Project(project, Box::new(grant.standing()))),
        Home::Group(group) => group_paths(tx, &[group])?.remove(&group).map(CountScope::Group),
    })
}

async fn list(app: App, call: Call<ReadLabels, ListLabels>) -> ApiResult<PagedList<LabelEntity>> {
    let listed = ListedLabels {
        of_ancestors: call.params.include_ancestor_groups,
        of_descendants: false,
        of_projects: false,
        search: call.params.search,
        name: None,
    };
    listed_page(app, call.grant, listed, call.params.with_counts, call.page).await
}

async fn list_group(
    app: App,
    call: Call<ReadGroupLabels, (ListLabels, ListGroupLabels)>,
) -> ApiResult<PagedList<LabelEntity>> {
    let (inner, more) = call.params;
    let listed = ListedLabels {
        of_ancestors: inner.include_ancestor_groups,
        of_descendants: more.include_descendant_groups,
        of_projects: !more.only_group_labels,
        search: inner.search,
        name: None,
    };
    listed_page(app, call.grant, listed, inner.with_counts, call.page).await
}

async fn listed_page(
    app: App,
    grant: impl ReadGrant<Labels> + Clone + Send + 'static,
    listed: ListedLabels,
    with_counts: bool,
    page: PageRequest,
) -> ApiResult<PagedList<LabelEntity>> {
    let found = app.db.read(move |tx| {
        let labels = actions::list(tx, &grant, &OrgHierarchy, listed, page)?;
        let counted = if with_counts { counted_in(tx, &grant)? } else { None };
        let view = LabelView { counted, ..view(&grant)? };
        labels.try_map_all(|labels| LabelEntity::all(tx, labels, &view))
    });
    Ok(PagedList(found.await?))
}

async fn show<A: Ability>(app: App, call: Call<A, OneLabel>) -> ApiResult<Json<LabelEntity>>
where
    Grant<A>: ReadGrant<Labels>,
{
    let (grant, name) = (call.grant, call.params.name());
    let shown = app.db.read(move |tx| {
        let label = actions::read(tx, &grant, &OrgHierarchy, &name)?;
        LabelEntity::one(tx, label, &view(&grant)?)
    });
    Ok(Json(shown.await?))
}

async fn create<A: Ability>(app: App, call: Call<A, CreateLabel>) -> ApiResult<Created<LabelEntity>>
where
    Grant<A>: ManageGrant<Labels>,
{
    let (grant, new) = (call.grant, call.params.into());
    let made = app.db.write(move |tx| {
        let label = actions::create(tx, &grant, &OrgHierarchy, &new)?;
        LabelEntity::one(tx, label, &view(&grant)?)
    });
    Ok(Created(made.await?))
}

async fn update<A: Ability>(
    app: App,
    call: Call<A, (OneLabel, ChangeLabel)>,
) -> ApiResult<Json<LabelEntity>>
where
    Grant<A>: ManageGrant<Labels>,
{
    let (one, change) = call.params;
    changed(app, call.grant, one.name(), change).await
}

/// The older form, with the label among the parameters.
async fn update_named<A: Ability>(
    app: App,
    call: Call<A, (NamedLabel, ChangeLabel)>,
) -> ApiResult<Json<LabelEntity>>
where
    Grant<A>: ManageGrant<Labels>,
{
    let (one, change) = call.params;
    changed(app, call.grant, one.named(), change).await
}

async fn changed(
    app: App,
    grant: impl ManageGrant<Labels> + Clone + Send + 'static,
    name: LabelName,
    change: ChangeLabel,
) -> ApiResult<Json<LabelEntity>> {
    let changed = app.db.write(move |tx| {
        let label = actions::update(tx, &grant, &OrgHierarchy, &name, change.into())?;
        LabelEntity::one(tx, label, &view(&grant)?)
    });
    Ok(Json(changed.await?))
}

async fn remove<A: Ability>(app: App, call: Call<A, OneLabel>) -> ApiResult<NoContent>
where
    Grant<A>: ManageGrant<Labels>,
{
    let (since, name) = (call.unmodified_since(), call.params.name());
    app.db.write(move |tx| actions::remove(tx, &call.grant, &name, since)).await?;
    Ok(NoContent)
}

async fn remove_named<A: Ability>(app: App, call: Call<A, NamedLabel>) -> ApiResult<NoContent>
where
    Grant<A>: ManageGrant<Labels>,
{
    let (since, name) = (call.unmodified_since(), call.params.named());
    app.db.write(move |tx| actions::remove(tx, &call.grant, &name, since)).await?;
    Ok(NoContent)
}

async fn promote(app: App, call: Call<ManageLabels, OneLabel>) -> ApiResult<Json<LabelEntity>> {
    let (grant, name) = (call.grant, call.params.name());
    let lifted = app.db.write(move |tx| {
        let label = actions::promote(tx, &grant, &OrgHierarchy, &name)?;
        LabelEntity::one(tx, label, &LabelView { project: None, ..view(&grant)? })
    });
    Ok(Json(lifted.await?))
}

async fn subscribe<A: Ability>(app: App, call: Call<A, OneLabel>) -> ApiResult<Created<LabelEntity>>
where
    Grant<A>: ReadGrant<Labels>,
{
    set_subscription(app, call.grant, call.params.name(), true).await
}

async fn unsubscribe<A: Ability>(
    app: App,
    call: Call<A, OneLabel>,
) -> ApiResult<Created<LabelEntity>>
where
    Grant<A>: ReadGrant<Labels>,
{
    set_subscription(app, call.grant, call.params.name(), false).await
}

async fn set_subscription(
    app: App,
    grant: impl ReadGrant<Labels> + Clone + Send + 'static,
    name: LabelName,
    wanted: bool,
) -> ApiResult<Created<LabelEntity>> {
    let set = app.db.write(move |tx| {
        let label = actions::read(tx, &grant, &OrgHierarchy, &name)?;
        actions::set_subscription(tx, grant.user()?, &label, wanted)?;
        LabelEntity::one(tx, label, &view(&grant)?)
    });
    Ok(Created(set.await?))
}
