//! Groups and personal namespaces, as the caller sees them.

use std::{collections::HashMap, sync::Arc};

use db::{Tx, keyset::RowPosition};
use graphql::{Failure, Page, Value};
use kernel::{
    Ability, AccessLevel, Actor, Error, Grant, Standing, Visibility,
    access::{Group, GroupFacts},
    ids::NamespaceId,
    page::Total,
};
use org::{
    access::{
        IdOrPath, level_in_namespace, levels_in_namespaces, locate_group, locate_groups,
        seen_namespace,
    },
    namespace::{
        GroupFilter, Kind, Namespace, list::GroupLists as _, model::GroupOrder,
        store::NamespaceStore as _,
    },
    policy::ReadGroup,
    project::home::{HomeStore as _, may_create_with},
};

use crate::{
    context::Context,
    failure::{failure_of, visible},
    keyset_list::KeysetList,
    loaders::{BatchLoader, Loaders},
    numbered_list::NumberedList,
    windowed_page::{CursorOrder, WindowedPage},
};

/// A group or personal namespace, and how the caller stands in it.
#[derive(Clone, Debug)]
pub struct GroupRecord {
    pub group: Namespace,
    pub facts: Arc<GroupFacts>,
    pub who: Standing,
}

impl GroupRecord {
    pub(super) fn new(group: Namespace, who: Standing) -> Self {
        Self { facts: Arc::new(group.facts()), group, who }
    }

    pub fn id(&self) -> NamespaceId {
        self.group.id
    }

    /// The proof that the caller may do something here.
    ///
    /// # Errors
    /// When they may not. In a personal namespace nobody may do what is done in groups.
    pub fn grant<A: Ability<Scope = Group>>(&self) -> kernel::Result<Grant<A>> {
        if self.group.kind != Kind::Group {
            return Err(Error::not_found("Group"));
        }
        if !A::OPEN && !self.who.signed_in() {
            return Err(Error::unauthenticated());
        }
        Grant::check(&self.who, Group(self.facts.clone()))
    }

    pub(super) fn may<A: Ability<Scope = Group>>(&self) -> bool {
        self.grant::<A>().is_ok()
    }

    /// Whether the caller owns it.
    pub(super) fn is_owned(&self) -> bool {
        self.who.is(AccessLevel::Owner)
    }
}

/// Loads groups and personal namespaces with the caller's standing.
struct GroupLoaders {
    groups: BatchLoader<NamespaceId, Arc<GroupRecord>>,
    namespaces: BatchLoader<NamespaceId, Arc<GroupRecord>>,
}

impl GroupLoaders {
    fn of(loaders: &Loaders, actor: Actor) -> Arc<Self> {
        loaders.of(|db| Self {
            groups: BatchLoader::new(db, move |tx, ids| seen_groups(tx, actor, ids)),
            namespaces: BatchLoader::new(db, move |tx, ids| namespaces(tx, actor, ids)),
        })
    }
}

type Records = HashMap<NamespaceId, Arc<GroupRecord>>;

fn seen_groups(tx: &mut Tx<'_>, actor: Actor, ids: &[NamespaceId]) -> kernel::Result<Records> {
    let found = locate_groups(tx, actor, ids)?.into_iter();
    Ok(found.map(|(group, who)| (group.id, Arc::new(GroupRecord::new(group, who)))).collect())
}

/// Groups that the caller sees, and personal namespaces: these are named wherever one of their projects is.
fn namespaces(tx: &mut Tx<'_>, actor: Actor, ids: &[NamespaceId]) -> kernel::Result<Records> {
    let mut found = seen_groups(tx, actor, ids)?;
    let levels = levels_in_namespaces(tx, actor, ids)?;
    let rows = tx.namespaces_by_id(ids)?.into_values().filter(|row| row.kind == Kind::User);
    found.extend(rows.map(|home| {
        let level = levels.get(&home.id).copied().unwrap_or_default();
        let who = Standing::in_scope(actor, level, Visibility::Public);
        (home.id, Arc::new(GroupRecord::new(home, who)))
    }));
    Ok(found)
}

pub fn group(record: Arc<GroupRecord>) -> Value {
    Value::object("Group", record)
}

pub fn namespace(record: Arc<GroupRecord>) -> Value {
    Value::object("Namespace", record)
}

/// A group by id; null where the caller does not see it.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: NamespaceId) -> Result<Value, Failure> {
    Ok(record_of(context, id).await?.map_or(Value::Null, group))
}

/// As [`of_id`], of the record itself.
///
/// # Errors
/// When the database failed.
pub async fn record_of(
    context: &Context,
    id: NamespaceId,
) -> Result<Option<Arc<GroupRecord>>, Failure> {
    GroupLoaders::of(&context.loaders, context.actor()).groups.load(id).await
}

/// A group or personal namespace by id, as a namespace.
///
/// # Errors
/// When the database failed.
pub async fn namespace_of_id(context: &Context, id: NamespaceId) -> Result<Value, Failure> {
    let loaders = GroupLoaders::of(&context.loaders, context.actor());
    Ok(loaders.namespaces.load(id).await?.map_or(Value::Null, namespace))
}

/// The group that a mutation names.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller does not see one of that path.
pub async fn named(context: &Context, path: &str) -> Result<Arc<GroupRecord>, Failure> {
    let found = find(context, path).await?;
    found.ok_or(Failure::NotFoundOrForbidden)
}

pub(super) async fn find(
    context: &Context,
    path: &str,
) -> Result<Option<Arc<GroupRecord>>, Failure> {
    let (actor, path) = (context.actor(), IdOrPath::Path(path.to_owned()));
    let found = context.forge.db.peek(move |tx| {
        let (scope, who) = locate_group(tx, actor, &path)?;
        Ok(GroupRecord::new(tx.namespace(scope.0.id)?, who))
    });
    Ok(visible(found.await)?.map(Arc::new))
}

pub(super) async fn find_namespace(context: &Context, path: &str) -> Result<Value, Failure> {
    let (actor, path) = (context.actor(), IdOrPath::Path(path.to_owned()));
    let found = context.forge.db.peek(move |tx| {
        let home = seen_namespace(tx, actor, &path)?;
        if home.kind == Kind::Group {
            let (_, who) = locate_group(tx, actor, &IdOrPath::Id(home.id.0))?;
            return Ok(GroupRecord::new(home, who));
        }
        let level = level_in_namespace(tx, actor, home.id)?;
        Ok(GroupRecord::new(home, Standing::in_scope(actor, level, Visibility::Public)))
    });
    Ok(visible(found.await)?.map_or(Value::Null, |found| namespace(Arc::new(found))))
}

/// A page of groups, of which those are left out that the caller does not see.
///
/// # Errors
/// When the database failed.
pub async fn connection(
    context: &Context,
    page: &Page,
    found: NumberedList<NamespaceId>,
) -> Result<Value, Failure> {
    let groups = &GroupLoaders::of(&context.loaders, context.actor()).groups;
    let found = found.load_each(|id| groups.load(id)).await?;
    Ok(found.connection(page, |found| found.map_or(Value::Null, group)).into())
}

/// The first groups of a list, with how many it has.
#[derive(Clone, Debug)]
pub struct FirstGroups {
    pub rows: Arc<Vec<Namespace>>,
    pub total: Total,
}

impl Default for FirstGroups {
    fn default() -> Self {
        Self { rows: Arc::default(), total: Total::Counted(0) }
    }
}

/// The place of groups in lists, as cursors tell it.
fn cursor_order(order: GroupOrder) -> CursorOrder {
    match order {
        GroupOrder::Id => CursorOrder::Id,
        GroupOrder::Path => CursorOrder::Text("path"),
        GroupOrder::Name | GroupOrder::Similarity => CursorOrder::Text("name"),
    }
}

/// A page of a list of groups, of which those are left out that the caller does not see.
///
/// # Errors
/// For a cursor of another list, and when the database failed.
pub async fn listed(
    context: &Context,
    page: Page,
    filter: GroupFilter,
    counts: bool,
) -> Result<Value, Failure> {
    let page = WindowedPage::new(page, cursor_order(filter.order))?;
    let (asked, wanted) = (page.clone(), filter.clone());
    let found = context
        .forge
        .db
        .read(move |tx| asked.read(counts, |window, part| tx.groups_in(&wanted, window, part)));
    let found = found.await.map_err(failure_of)?;
    shown(context, &page, |row| filter.position(row), found).await
}

/// The first page of groups in the order of their names.
///
/// # Errors
/// When the database failed.
pub async fn first_page(
    context: &Context,
    page: &Page,
    found: FirstGroups,
) -> Result<Value, Failure> {
    let page = WindowedPage::new(page.clone(), cursor_order(GroupOrder::Name))?;
    let rows = kernel::page::Page { items: found.rows.to_vec(), total: found.total };
    let rows = page.of_first(rows).map_err(failure_of)?;
    shown(context, &page, |row| RowPosition::of_text(&row.name, row.id.0), rows).await
}

async fn shown(
    context: &Context,
    page: &WindowedPage,
    position: impl Fn(&Namespace) -> RowPosition,
    found: KeysetList<Namespace>,
) -> Result<Value, Failure> {
    let groups = &GroupLoaders::of(&context.loaders, context.actor()).groups;
    let load = |row: Namespace| {
        let position = position(&row);
        async move { Ok::<_, Failure>((position, groups.load(row.id).await?)) }
    };
    let found = found.load_each(load).await?;
    let value = |(_, found): (RowPosition, Option<_>)| found.map_or(Value::Null, group);
    Ok(page.connection(found, |(position, _)| position.clone(), value).into())
}

/// What the caller may do with a group.
pub(crate) fn permissions(record: &GroupRecord) -> Value {
    let creates = record.who.signed_in()
        && may_create_with(record.who.actor, record.who.level, &record.group);
    Value::fields(
        "GroupPermissions",
        [("createProjects", creates.into()), ("readGroup", record.may::<ReadGroup>().into())],
    )
}
