//! The items that a caller may read, and the proof of that.

use std::collections::HashSet;

use db::{OneOf as _, Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{
    Ability as _, AccessLevel, Actor, Error, Grant, Result, Standing,
    ids::{ProjectId, UserId},
};

use super::{Item, ItemId, ItemKind, ItemStore as _, is_readable_by};
use crate::{
    Home, epic,
    policy::{
        CreateIssues, DiscussEpics, ManageIssues, ManageMergeRequests, ReadEpicNotes,
        ReadGroupEpics, ReadIssueNotes, ReadIssues, ReadMergeRequests, TakePartInMergeRequests,
    },
    ports::Forge,
};

/// Proof that somebody may read the items of one kind in a project or group, those aside that are confidential.
pub trait ReadItemsGrant {
    const KIND: ItemKind;
    fn home(&self) -> Home;
    fn who(&self) -> &Standing;

    fn actor(&self) -> Actor {
        self.who().actor
    }

    fn user(&self) -> Result<UserId> {
        self.actor().user()
    }
}

/// Proof that somebody may comment on the items of one kind in a project or group, and react to them.
pub trait ParticipationGrant: ReadItemsGrant {}

/// Proof that somebody may manage the items of one kind in a project: plan them, and say how long they take.
pub trait ManageItemsGrant: ReadItemsGrant {}

macro_rules! reads { ($($ability:ident: $kind:ident in $home:ident $id:ident),* $(,)?) => { $(
    impl ReadItemsGrant for Grant<$ability> {
        const KIND: ItemKind = ItemKind::$kind;
        fn home(&self) -> Home {
            Home::$home(Grant::$id(self))
        }
        fn who(&self) -> &Standing {
            Grant::who(self)
        }
    }
)* } }

reads! {
    ReadIssues: Issue in Project project,
    ReadIssueNotes: Issue in Project project,
    CreateIssues: Issue in Project project,
    ReadMergeRequests: MergeRequest in Project project,
    TakePartInMergeRequests: MergeRequest in Project project,
    ManageIssues: Issue in Project project,
    ManageMergeRequests: MergeRequest in Project project,
    ReadGroupEpics: Epic in Group group,
    ReadEpicNotes: Epic in Group group,
    DiscussEpics: Epic in Group group,
}
impl ManageItemsGrant for Grant<ManageIssues> {}
impl ManageItemsGrant for Grant<ManageMergeRequests> {}
impl ParticipationGrant for Grant<CreateIssues> {}
impl ParticipationGrant for Grant<TakePartInMergeRequests> {}
impl ParticipationGrant for Grant<DiscussEpics> {}

/// The item of that number, if the caller may read it.
///
/// # Errors
/// `NotFound`, whether it is not there or not for the caller.
pub fn read<G: ReadItemsGrant>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<Item> {
    match tx.find_item(grant.home(), G::KIND, iid)? {
        Some(item) if is_readable_by(tx, grant.who(), &item)? => Ok(item),
        _ => Err(Error::not_found(name(G::KIND))),
    }
}

/// The word for a kind of item in refusals.
pub fn name(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Issue => "Issue",
        ItemKind::MergeRequest => "MergeRequest",
        ItemKind::Epic => "Epic",
    }
}

/// Whether the items of a kind are for somebody at all, who stands so in their project.
pub fn reads_kind(kind: ItemKind, who: &Standing) -> bool {
    who.visible
        && match kind {
            ItemKind::Issue => ReadIssues::allows(who),
            ItemKind::MergeRequest => ReadMergeRequests::allows(who),
            ItemKind::Epic => false,
        }
}

/// Those of these items that somebody may read, each with its project; epics have none.
pub fn readable_anywhere(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    items: &[(ItemId, Option<ProjectId>)],
) -> Result<HashSet<ItemId>> {
    let inside = items.iter().filter_map(|(id, project)| Some((*id, (*project)?)));
    let inside: Vec<(ItemId, ProjectId)> = inside.collect();
    let mut seen = readable(tx, forge, actor, &inside)?;
    let epics = items.iter().map(|(id, _)| *id).filter(|id| id.kind == ItemKind::Epic);
    let mut epics: Vec<i64> = epics.map(|id| id.id).collect();
    epics.sort_unstable();
    epics.dedup();
    for epics in epics.chunks(AT_ONCE) {
        let found = epic::readable(tx, forge, actor, epics)?;
        seen.extend(found.iter().map(epic::Epic::item));
    }
    Ok(seen)
}

/// Those of these items of projects that somebody may read.
pub fn readable(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    items: &[(ItemId, ProjectId)],
) -> Result<HashSet<ItemId>> {
    let mut projects: Vec<ProjectId> = items.iter().map(|(_, project)| *project).collect();
    projects.sort_unstable();
    projects.dedup();
    let standings = forge.standings_in(tx, actor, &projects)?;
    let (mut seen, mut doubtful) = (HashSet::new(), Vec::new());
    for (id, project) in items {
        let Some(who) = standings.get(project) else { continue };
        if !reads_kind(id.kind, who) {
            continue;
        }
        if id.kind == ItemKind::Issue && !who.is(AccessLevel::Reporter) {
            doubtful.push(id.id);
        } else {
            seen.insert(*id);
        }
    }
    doubtful.sort_unstable();
    doubtful.dedup();
    let open = open_issues(tx, actor, &doubtful)?;
    seen.extend(open.into_iter().map(|id| ItemId { kind: ItemKind::Issue, id }));
    Ok(seen)
}

/// Databases take only so many values in one question.
pub(crate) const AT_ONCE: usize = 5_000;

/// Those of these issues that are not confidential, or are the actor's or given to them.
fn open_issues(tx: &mut Tx<'_>, actor: Actor, ids: &[i64]) -> Result<Vec<i64>> {
    let mut open = Vec::new();
    for ids in ids.chunks(AT_ONCE) {
        let user = actor.id.unwrap_or(UserId(0));
        let rows: Vec<(i64, bool, UserId)> = each_backend!(tx, |conn| issues::table
            .filter(issues::id.one_of(ids))
            .select((issues::id, issues::confidential, issues::author_id))
            .load(conn)
            .map_err(error("Issue")))?;
        let hidden: Vec<i64> = rows
            .iter()
            .filter(|(_, confidential, author)| *confidential && *author != user)
            .map(|(id, ..)| *id)
            .collect();
        let given = tx.assignees_of(ItemKind::Issue, &hidden)?;
        let hidden: HashSet<i64> = hidden.into_iter().collect();
        let to_me = |id: &i64| given.get(id).is_some_and(|people| people.contains(&user));
        let all = rows.into_iter().map(|(id, ..)| id);
        open.extend(all.filter(|id| !hidden.contains(id) || to_me(id)));
    }
    Ok(open)
}
