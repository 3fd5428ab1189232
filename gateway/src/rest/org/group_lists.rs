//! Lists of groups: all, those directly inside one, and everything below one.

use std::collections::HashMap;

use db::Tx;
use entities::org::{group::GroupEntity, group_statistics::GroupStatisticsEntity};
use forge::{artifact_sizes, urls::Urls};
use kernel::{
    Error,
    access::Anyone,
    ids::NamespaceId,
    page::{Page, Total},
};
use org::{
    custom_attribute::store::{CustomAttributeStore, NotesById},
    namespace::{
        Namespace,
        list::GroupLists,
        model::{GroupOrder, TreeLevel},
        statistics::GroupStatistics,
    },
    policy::ReadGroup,
    project::statistics::Statistics,
    settings::store::SettingsStore,
};

use super::{
    custom_attribute_params::entities,
    group_list_params::{GroupListDetails, ListGroups, ListSubgroups},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Sort, cursor_of, no_keyset, read_cursor, unreadable_cursor},
    present::{Either, KeysetList, PagedList},
    routes,
};

routes! { "Groups" at "/groups";
    GET ""                        => list        : Anyone,
    GET "/{id}/subgroups"         => subgroups   : ReadGroup,
    GET "/{id}/descendant_groups" => descendants : ReadGroup,
}

const TOO_FAR: &str = "Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type \
                       Group. Remaining records can be retrieved using keyset pagination.";
/// How far people without an account may leaf through pages.
const FARTHEST: i64 = 50_000;

type Groups = Either<PagedList<GroupEntity>, KeysetList<GroupEntity>>;

/// A page of groups with what is told of them.
struct GroupPage {
    groups: Vec<Namespace>,
    total: Total,
    /// How far default branches are protected where a group does not say.
    protection: i32,
    statistics: Option<HashMap<NamespaceId, Statistics>>,
    /// Bytes of the artifacts of jobs.
    artifacts: HashMap<NamespaceId, i64>,
    notes: Option<NotesById>,
}

impl GroupPage {
    fn load(
        tx: &mut Tx<'_>,
        found: Page<Namespace>,
        further: GroupListDetails,
    ) -> kernel::Result<Self> {
        let ids: Vec<NamespaceId> = found.items.iter().map(|group| group.id).collect();
        let (statistics, artifacts) = match further.statistics {
            true => {
                let artifacts = artifact_sizes::of_groups(tx, &ids)?;
                (Some(tx.statistics_by_group(&ids)?), artifacts)
            }
            false => (None, HashMap::new()),
        };
        let notes = match further.custom_attributes {
            true => Some(tx.custom_attributes_of_groups(&ids)?),
            false => None,
        };
        let protection = tx.settings()?.default_branch_protection;
        let (groups, total) = (found.items, found.total);
        Ok(Self { groups, total, protection, statistics, artifacts, notes })
    }

    fn entities(mut self, urls: &Urls) -> Vec<GroupEntity> {
        let entity = |group: Namespace| {
            let mut entity = GroupEntity::new(urls, &group, self.protection);
            if let Some(notes) = &mut self.notes {
                entity.custom_attributes =
                    Some(entities(notes.remove(&group.id.0).unwrap_or_default()));
            }
            if let Some(statistics) = &self.statistics {
                let sum = statistics.get(&group.id).copied().unwrap_or_default();
                let artifacts = self.artifacts.get(&group.id).copied().unwrap_or_default();
                entity.statistics = Some(GroupStatisticsEntity::new(sum, artifacts));
            }
            entity
        };
        self.groups.into_iter().map(entity).collect()
    }

    fn listed(self, urls: &Urls) -> PagedList<GroupEntity> {
        let total = self.total;
        PagedList(Page { items: self.entities(urls), total })
    }
}

async fn list(app: App, call: Call<Anyone, ListGroups>) -> ApiResult<Groups> {
    let (actor, page) = (call.grant.actor(), call.page);
    if call.raw.text("pagination") == Some("keyset") {
        return list_after(app, call).await.map(Either::Right);
    }
    if actor.id.is_none() && page.offset().saturating_add(page.per_page) > FARTHEST {
        return Err(Error::not_allowed().parameters(TOO_FAR).into());
    }
    let (further, filter) = (call.params.further(actor), call.params.filter(actor));
    let told = app.db.read(move |tx| {
        let found = tx.groups(&filter, page)?;
        GroupPage::load(tx, found, further)
    });
    Ok(Either::Left(told.await?.listed(&app.urls)))
}

/// The list in the order of names, each page found by the last group of the one before.
async fn list_after(
    app: App,
    call: Call<Anyone, ListGroups>,
) -> ApiResult<KeysetList<GroupEntity>> {
    let by_name = call.params.order_by == GroupOrder::Name && call.params.sort == Sort::Asc;
    if !by_name {
        return Err(no_keyset().into());
    }
    let after = call.params.cursor.as_deref().map(place_of).transpose()?;
    let (actor, most) = (call.grant.actor(), call.page.per_page);
    let further = call.params.further(actor);
    let mut filter = call.params.filter(actor);
    filter.after = after;
    let told = app.db.read(move |tx| {
        let found = tx.groups_after(&filter, most)?;
        GroupPage::load(tx, found, further)
    });
    let told = told.await?;
    let more = told.total == Total::Uncounted { more: true };
    let next = told.groups.last().filter(|_| more).map(|last| {
        ("cursor", cursor_of([("name", last.name.clone()), ("id", last.id.to_string())]))
    });
    Ok(KeysetList { items: told.entities(&app.urls), next })
}

/// Behind which group the page begins.
fn place_of(cursor: &str) -> Result<(String, NamespaceId), Error> {
    let [name, id] = read_cursor(cursor, ["name", "id"])?;
    let id = id.parse().ok().ok_or_else(unreadable_cursor)?;
    Ok((name, NamespaceId(id)))
}

async fn subgroups(
    app: App,
    call: Call<ReadGroup, ListSubgroups>,
) -> ApiResult<PagedList<GroupEntity>> {
    let place = TreeLevel::Under(call.grant.group());
    inside(app, call, place).await
}

async fn descendants(
    app: App,
    call: Call<ReadGroup, ListSubgroups>,
) -> ApiResult<PagedList<GroupEntity>> {
    let place = TreeLevel::Below(call.grant.group_facts().full_path.clone());
    inside(app, call, place).await
}

async fn inside(
    app: App,
    call: Call<ReadGroup, ListSubgroups>,
    place: TreeLevel,
) -> ApiResult<PagedList<GroupEntity>> {
    let (actor, page) = (call.grant.actor(), call.page);
    let (filter, further) = call.params.into_filter(actor, place);
    let told = app.db.read(move |tx| {
        let found = tx.groups(&filter, page)?;
        GroupPage::load(tx, found, further)
    });
    Ok(told.await?.listed(&app.urls))
}
