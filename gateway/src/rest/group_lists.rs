//! Lists of groups: all, those directly inside one, and everything below one.

use base64::{Engine, engine::general_purpose::URL_SAFE};
use db::Tx;
use kernel::{
    Error,
    access::Anyone,
    ids::NamespaceId,
    page::{Page, PageRequest},
};
use org::{
    namespace::{
        GroupFilter, Namespace,
        list::NamespaceLists,
        model::{GroupOrder, Place},
        store::NamespaceStore,
    },
    policy::ReadGroup,
    settings::store::SettingsStore,
};
use serde_json::{Value, json};

use super::group_list_params::ListGroups;
use crate::{
    app::App,
    entities::group::GroupEntity,
    error::{ApiError, ApiResult},
    extract::{Call, Sort},
    present::{Either, Listed, ListedAfter},
    routes,
};

routes! { "Groups" at "/groups";
    GET ""                        => list        : Anyone,
    GET "/{id}/subgroups"         => subgroups   : ReadGroup,
    GET "/{id}/descendant_groups" => descendants : ReadGroup,
}

const NO_KEYSET: &str = "Keyset pagination is not yet available for this type of request";
const TOO_FAR: &str = "Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type \
                       Group. Remaining records can be retrieved using keyset pagination.";
/// How far people without an account may leaf through pages.
const FARTHEST: i64 = 50_000;

type Groups = Either<Listed<GroupEntity>, ListedAfter<GroupEntity>>;

/// A page, and how far default branches are protected where a group does not say.
fn load(
    tx: &mut Tx<'_>,
    filter: &GroupFilter,
    page: PageRequest,
) -> kernel::Result<(Page<Namespace>, i32)> {
    Ok((tx.groups(filter, page)?, tx.settings()?.default_branch_protection))
}

async fn list(app: App, call: Call<Anyone, ListGroups>) -> ApiResult<Groups> {
    let (actor, page) = (call.grant.actor(), call.page);
    if call.raw.text("pagination") == Some("keyset") {
        return list_after(app, call).await.map(Either::Right);
    }
    if actor.id.is_none() && page.offset().saturating_add(page.per_page) > FARTHEST {
        return Err(ApiError::Keyset(TOO_FAR.to_owned()));
    }
    let filter = call.params.filter(actor, Place::Anywhere);
    listed(&app, filter, page).await.map(Either::Left)
}

async fn listed(
    app: &App,
    filter: GroupFilter,
    page: PageRequest,
) -> ApiResult<Listed<GroupEntity>> {
    let (page, protection) = app.db.read(move |tx| load(tx, &filter, page)).await?;
    Ok(Listed(page.map(|group| GroupEntity::new(&app.urls, &group, protection))))
}

/// The list in the order of names, each page found by the last group of the one before.
async fn list_after(
    app: App,
    call: Call<Anyone, ListGroups>,
) -> ApiResult<ListedAfter<GroupEntity>> {
    let by_name = call.params.order_by == GroupOrder::Name && call.params.sort == Sort::Asc;
    if !by_name {
        return Err(ApiError::Keyset(NO_KEYSET.to_owned()));
    }
    let after = call.params.cursor.as_deref().map(read_cursor).transpose()?;
    let page = PageRequest { page: 1, per_page: call.page.per_page };
    let filter = call.params.filter(call.grant.actor(), Place::Anywhere);
    let filter = GroupFilter { after, ..filter };
    let (found, protection) = app.db.read(move |tx| load(tx, &filter, page)).await?;
    let more = matches!(found.total, kernel::page::Total::Counted(left) if left > page.per_page);
    let next = found.items.last().filter(|_| more).map(|last| ("cursor", cursor_of(last)));
    let shown = |group: Namespace| GroupEntity::new(&app.urls, &group, protection);
    Ok(ListedAfter { items: found.items.into_iter().map(shown).collect(), next })
}

fn cursor_of(last: &Namespace) -> String {
    let place = json!({ "name": last.name, "id": last.id.to_string(), "_kd": "n" });
    URL_SAFE.encode(place.to_string())
}

fn read_cursor(text: &str) -> Result<(String, NamespaceId), Error> {
    let unreadable = || Error::BadParameters("cursor is invalid".to_owned());
    let bytes = URL_SAFE.decode(text).ok().ok_or_else(unreadable)?;
    let place: Value = serde_json::from_slice(&bytes).ok().ok_or_else(unreadable)?;
    let name = place["name"].as_str().ok_or_else(unreadable)?;
    let id = place["id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(unreadable)?;
    Ok((name.to_owned(), NamespaceId(id)))
}

async fn subgroups(app: App, call: Call<ReadGroup, ListGroups>) -> ApiResult<Listed<GroupEntity>> {
    let place = Place::Under(call.grant.group());
    inside(app, call, place).await
}

async fn descendants(
    app: App,
    call: Call<ReadGroup, ListGroups>,
) -> ApiResult<Listed<GroupEntity>> {
    let id = call.grant.group();
    let group = app.db.peek(move |tx| tx.namespace(id)).await?;
    inside(app, call, Place::Below(group.full_path)).await
}

async fn inside(
    app: App,
    call: Call<ReadGroup, ListGroups>,
    place: Place,
) -> ApiResult<Listed<GroupEntity>> {
    if call.raw.text("pagination") == Some("keyset") {
        return Err(ApiError::Keyset(NO_KEYSET.to_owned()));
    }
    let filter = call.params.filter(call.grant.actor(), place);
    listed(&app, filter, call.page).await
}
