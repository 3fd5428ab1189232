//! The caller's standing where records of reviews are, and the proofs of abilities there.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use graphql::Failure;
use kernel::{
    Ability, Actor, Error, Grant, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId},
};
use org::access::{
    IdOrPath, locate_group, locate_groups, locate_project, standings_of_one::in_projects,
};
use review::{
    Home,
    epic::EpicStore as _,
    issue::IssueStore as _,
    item::{Item, ItemId, ItemKind, is_readable_by},
    merge_request::MergeRequestStore as _,
};

use crate::{context::Context, failure::failure_of};

/// The proof of an ability in the project at a path.
///
/// # Errors
/// `NotFoundOrForbidden` where the project is not there or the ability is missing.
pub async fn grant_at<A>(context: &Context, path: String) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Project> + Send,
{
    let actor = caller_with_ability::<A>(context)?;
    let located =
        context.forge.db.read(move |tx| locate_project(tx, actor, &IdOrPath::Path(path))).await;
    let (project, who) = located.map_err(failure_of)?;
    Grant::check(&who, project).map_err(failure_of)
}

/// As [`grant_at`], in a project by its id.
pub async fn grant_in<A>(context: &Context, project: ProjectId) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Project> + Send,
{
    let actor = caller_with_ability::<A>(context)?;
    let place = IdOrPath::Id(project.0);
    let located = context.forge.db.read(move |tx| locate_project(tx, actor, &place)).await;
    let (project, who) = located.map_err(failure_of)?;
    Grant::check(&who, project).map_err(failure_of)
}

/// The proof of an ability in the group at a path.
///
/// # Errors
/// `NotFoundOrForbidden` where the group is not there or the ability is missing.
pub async fn group_grant_at<A>(context: &Context, path: String) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Group> + Send,
{
    group_grant(context, IdOrPath::Path(path)).await
}

/// As [`group_grant_at`], in a group by its id.
pub async fn group_grant_in<A>(context: &Context, group: NamespaceId) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Group> + Send,
{
    group_grant(context, IdOrPath::Id(group.0)).await
}

async fn group_grant<A>(context: &Context, place: IdOrPath) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Group> + Send,
{
    let actor = caller_with_ability::<A>(context)?;
    let located = context.forge.db.read(move |tx| locate_group(tx, actor, &place)).await;
    let (group, who) = located.map_err(failure_of)?;
    Grant::check(&who, group).map_err(failure_of)
}

/// The caller, where the ability is for them at all.
fn caller_with_ability<A: Ability>(context: &Context) -> Result<Actor, Failure> {
    if !A::OPEN {
        context.signed_in()?;
    }
    Ok(context.actor())
}

/// Something that notes, reactions, to-dos and time belong to.
#[derive(Clone, Debug)]
pub struct Target {
    pub kind: ItemKind,
    pub home: Home,
    pub iid: i64,
}

impl Target {
    pub fn of(item: &Item) -> Self {
        Self { kind: item.id.kind, home: item.home, iid: item.iid }
    }
}

/// The classes of global ids of items.
pub const ITEMS: &[&str] = &["Issue", "MergeRequest", "Epic", "WorkItem"];

/// What kind of item a class of global ids names.
pub fn kind_of(class: &str) -> Option<ItemKind> {
    match class {
        "Issue" | "WorkItem" => Some(ItemKind::Issue),
        "MergeRequest" => Some(ItemKind::MergeRequest),
        "Epic" => Some(ItemKind::Epic),
        _ => None,
    }
}

/// An item by its id, whoever may read it.
///
/// # Errors
/// `NotFound` where there is none.
pub fn item(tx: &mut Tx<'_>, id: ItemId) -> Result<Item> {
    let found = match id.kind {
        ItemKind::Issue => tx.issues_in_order(&[id.id])?.pop().map(|issue| issue.item()),
        ItemKind::MergeRequest => {
            tx.merge_requests_in_order(&[id.id])?.pop().map(|request| request.item())
        }
        ItemKind::Epic => tx.epics_by_id(&[id.id])?.pop().map(|epic| epic.whole()),
    };
    found.ok_or_else(Error::missing)
}

/// How somebody stands where items are, by the ids of these; what is hidden from them is left out.
pub fn standings(
    tx: &mut Tx<'_>,
    actor: Actor,
    homes: &[(i64, Home)],
) -> Result<HashMap<i64, Standing>> {
    let projects: Vec<ProjectId> = homes.iter().filter_map(|(_, home)| home.project()).collect();
    let in_projects = in_projects(tx, actor, &projects)?;
    let groups: BTreeSet<NamespaceId> = homes.iter().filter_map(|(_, home)| home.group()).collect();
    let in_groups: HashMap<NamespaceId, Standing> = match groups.is_empty() {
        true => HashMap::new(),
        false => {
            let found = locate_groups(tx, actor, &Vec::from_iter(groups))?.into_iter();
            found.map(|(group, who)| (group.id, who)).collect()
        }
    };
    let standing = |home: &Home| match home {
        Home::Project(project) => in_projects.get(project).copied(),
        Home::Group(group) => in_groups.get(group).copied(),
    };
    Ok(homes.iter().filter_map(|(id, home)| Some((*id, standing(home)?))).collect())
}

/// The item of a global id, for somebody who may read it.
///
/// # Errors
/// `NotFoundOrForbidden` for any other.
pub async fn readable_item(context: &Context, id: ItemId) -> Result<(Item, Standing), Failure> {
    let actor = context.actor();
    let found = context.forge.db.read(move |tx| {
        let item = item(tx, id)?;
        let who = standings(tx, actor, &[(item.id.id, item.home)])?.remove(&item.id.id);
        let who = who.ok_or_else(Error::missing)?;
        match is_readable_by(tx, &who, &item)? {
            true => Ok((item, who)),
            false => Err(Error::missing()),
        }
    });
    found.await.map_err(failure_of)
}
