//! Asking oneself to look at something, seeing what one is asked, and being done with it.

use db::{
    OneOf as _, Tx, each_backend, error,
    keyset::{ListWindow, WHOLE},
    schema::todos,
};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Result,
    ids::{NamespaceId, NoteId, ProjectId, TodoId, UserId},
    page::{Page, PageRequest},
};

use super::{Todo, TodoAction, TodoState, TodoStore as _};
use crate::{
    Home,
    item::{ItemId, ItemKind, ParticipationGrant, reading},
    note,
    ports::Forge,
};

/// Which to-dos are asked for: with one of the values of each list that is not empty.
#[derive(Clone, Debug, Default)]
pub struct TodoFilter {
    pub actions: Vec<TodoAction>,
    pub authors: Vec<UserId>,
    pub projects: Vec<ProjectId>,
    /// With the groups inside.
    pub groups: Vec<NamespaceId>,
    /// Those that are pending where it is empty.
    pub states: Vec<TodoState>,
    pub kinds: Vec<ItemKind>,
}

impl TodoFilter {
    /// Whether a to-do is one of those that are asked for. Of groups and projects, only those that it names itself.
    pub fn fits(&self, row: &Todo) -> bool {
        fn holds<T: PartialEq>(among: &[T], value: Option<&T>) -> bool {
            among.is_empty() || value.is_some_and(|value| among.contains(value))
        }
        let state = match self.states.is_empty() {
            true => row.state == TodoState::Pending,
            false => self.states.contains(&row.state),
        };
        state
            && holds(&self.actions, Some(&row.action))
            && holds(&self.authors, Some(&row.author_id))
            && holds(&self.projects, row.project_id.as_ref())
            && holds(&self.groups, row.namespace_id.as_ref())
            && holds(&self.kinds, Some(&row.item_kind))
    }
}

/// Asks oneself to look at the item of that number.
///
/// # Errors
/// `Unchanged` where one is asked to already.
pub fn create<G: ParticipationGrant>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<Todo> {
    let item = reading::read(tx, grant, iid)?;
    let user = grant.user()?;
    let pending = todos::table
        .filter(todos::item_kind.eq(item.id.kind).and(todos::item_id.eq(item.id.id)))
        .filter(todos::user_id.eq(user).and(todos::state.eq(TodoState::Pending)));
    let is_asked: bool = each_backend!(tx, |conn| diesel::select(diesel::dsl::exists(pending))
        .get_result(conn)
        .map_err(error("Todo")))?;
    if is_asked || !tx.raise_todo(&item, user, user, TodoAction::Marked, None)? {
        return Err(Error::unchanged());
    }
    each_backend!(tx, |conn| pending
        .order(todos::id.desc())
        .select(Todo::as_select())
        .first(conn)
        .map_err(error("Todo")))
}

/// A page of what somebody is asked, newest first: about what they may still read.
pub fn list(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    filter: &TodoFilter,
    page: PageRequest,
) -> Result<Page<Todo>> {
    list_in(tx, forge, actor, filter, &WHOLE, page)
}

/// As [`list`], of a part of the list.
pub fn list_in(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    filter: &TodoFilter,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Page<Todo>> {
    let user = actor.user()?;
    let within = match filter.groups.is_empty() {
        true => None,
        false => {
            let mut groups = filter.groups.clone();
            for group in &filter.groups {
                groups.extend(forge.below(tx, actor, *group)?);
            }
            Some((forge.projects_in(tx, actor, &groups)?, groups))
        }
    };
    let mut heads = heads(tx, user, filter, within.as_ref())?;
    let items: Vec<(ItemId, Option<ProjectId>)> = heads.iter().map(Head::place).collect();
    let readable = reading::readable_anywhere(tx, forge, actor, &items)?;
    heads.retain(|head| readable.contains(&head.place().0));
    let said: Vec<(NoteId, Home)> = heads.iter().filter_map(Head::said).collect();
    let hidden = note::reading::hidden(tx, forge, actor, &said)?;
    heads.retain(|head| head.note.is_none_or(|note| !hidden.contains(&note)));
    // The newest comes first: what is behind a row is older.
    let older = |id: i64| window.after.as_ref().is_none_or(|row| id < row.id);
    let newer = |id: i64| window.before.as_ref().is_none_or(|row| id > row.id);
    let mut ids: Vec<TodoId> = heads.into_iter().map(|head| head.id).collect();
    ids.retain(|id| older(id.0) && newer(id.0));
    if window.reversed {
        ids.reverse();
    }
    page.slice(ids).try_map_all(|ids| {
        let mut rows = by_id(tx, &ids)?;
        if window.reversed {
            rows.reverse();
        }
        Ok(rows)
    })
}

#[derive(Queryable)]
struct Head {
    id: TodoId,
    project: Option<ProjectId>,
    group: Option<NamespaceId>,
    kind: ItemKind,
    item: i64,
    note: Option<NoteId>,
}

impl Head {
    fn place(&self) -> (ItemId, Option<ProjectId>) {
        (ItemId { kind: self.kind, id: self.item }, self.project)
    }

    /// The note that it is about, and where that is.
    fn said(&self) -> Option<(NoteId, Home)> {
        said(self.note, self.project, self.group)
    }
}

fn said(
    note: Option<NoteId>,
    project: Option<ProjectId>,
    group: Option<NamespaceId>,
) -> Option<(NoteId, Home)> {
    let home = project.map(Home::Project).or(group.map(Home::Group));
    Some((note?, home?))
}

fn heads(
    tx: &mut Tx<'_>,
    user: UserId,
    filter: &TodoFilter,
    within: Option<&(Vec<ProjectId>, Vec<NamespaceId>)>,
) -> Result<Vec<Head>> {
    each_backend!(tx, |conn| {
        let states = match filter.states.as_slice() {
            [] => &[TodoState::Pending],
            states => states,
        };
        let mut rows = todos::table
            .filter(todos::user_id.eq(user).and(todos::state.eq_any(states)))
            .order(todos::id.desc())
            .select((
                todos::id,
                todos::project_id,
                todos::namespace_id,
                todos::item_kind,
                todos::item_id,
                todos::note_id,
            ))
            .into_boxed();
        if !filter.actions.is_empty() {
            rows = rows.filter(todos::action.eq_any(&filter.actions));
        }
        if !filter.authors.is_empty() {
            rows = rows.filter(todos::author_id.eq_any(&filter.authors));
        }
        if !filter.projects.is_empty() {
            rows = rows.filter(todos::project_id.eq_any(&filter.projects).assume_not_null());
        }
        if let Some((projects, groups)) = within {
            let inside = todos::project_id.eq_any(projects).assume_not_null();
            let right_inside = todos::namespace_id.eq_any(groups).assume_not_null();
            rows = rows.filter(
                (todos::project_id.is_not_null().and(inside))
                    .or(todos::namespace_id.is_not_null().and(right_inside)),
            );
        }
        if !filter.kinds.is_empty() {
            rows = rows.filter(todos::item_kind.eq_any(&filter.kinds));
        }
        rows.load(conn).map_err(error("Todo"))
    })
}

fn by_id(tx: &mut Tx<'_>, ids: &[TodoId]) -> Result<Vec<Todo>> {
    each_backend!(tx, |conn| todos::table
        .filter(todos::id.one_of(ids))
        .order(todos::id.desc())
        .select(Todo::as_select())
        .load(conn)
        .map_err(error("Todo")))
}

/// Something that somebody is asked, if they may still read what it is about.
pub fn find(tx: &mut Tx<'_>, forge: &impl Forge, actor: Actor, id: TodoId) -> Result<Option<Todo>> {
    Ok(shown(tx, forge, actor, &[id])?.pop())
}

/// One is done with something.
///
/// # Errors
/// `NotFound` for what was asked of nobody, or of somebody else, or is about what one may not read any more.
pub fn finish(tx: &mut Tx<'_>, forge: &impl Forge, actor: Actor, id: TodoId) -> Result<Todo> {
    let user = actor.user()?;
    tx.finish_todo(user, id)?;
    shown(tx, forge, actor, &[id])?.pop().ok_or_else(Error::missing)
}

/// One is not done with these after all.
///
/// # Errors
/// As those of [`finish`], where that holds for any of them.
pub fn restore(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    ids: &[TodoId],
) -> Result<Vec<Todo>> {
    tx.restore_todos(actor.user()?, ids)?;
    let restored = shown(tx, forge, actor, ids)?;
    if restored.len() == ids.len() { Ok(restored) } else { Err(Error::missing()) }
}

/// One is done with all that is pending about an item, or with everything. Returns what that was.
pub fn finish_all(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    about: Option<ItemId>,
) -> Result<Vec<Todo>> {
    let user = actor.user()?;
    let pending: Vec<TodoId> = match about {
        Some(item) => {
            let asked = tx.todos_about(user, item.kind, &[item.id])?;
            asked.iter().filter(|one| one.state == TodoState::Pending).map(|one| one.id).collect()
        }
        None => {
            heads(tx, user, &TodoFilter::default(), None)?.into_iter().map(|head| head.id).collect()
        }
    };
    match about {
        Some(item) => tx.finish_todos(item, user)?,
        None => tx.finish_todos_of(user)?,
    }
    shown(tx, forge, actor, &pending)
}

/// What is asked of somebody about these items of a kind, newest first, as far as they may still read it.
pub fn about(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    kind: ItemKind,
    ids: &[i64],
) -> Result<Vec<Todo>> {
    let asked = tx.todos_about(actor.user()?, kind, ids)?;
    readable(tx, forge, actor, asked)
}

fn shown(tx: &mut Tx<'_>, forge: &impl Forge, actor: Actor, ids: &[TodoId]) -> Result<Vec<Todo>> {
    let asked = tx.todos_by_id(actor.user()?, ids)?;
    readable(tx, forge, actor, asked)
}

/// Those of these whose items and notes somebody may read.
fn readable(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    mut asked: Vec<Todo>,
) -> Result<Vec<Todo>> {
    let places: Vec<_> = asked.iter().map(|todo| (todo.item(), todo.project_id)).collect();
    let seen = reading::readable_anywhere(tx, forge, actor, &places)?;
    let about = |todo: &Todo| said(todo.note_id, todo.project_id, todo.namespace_id);
    let notes: Vec<(NoteId, Home)> = asked.iter().filter_map(about).collect();
    let hidden = note::reading::hidden(tx, forge, actor, &notes)?;
    asked.retain(|todo| {
        seen.contains(&todo.item()) && todo.note_id.is_none_or(|note| !hidden.contains(&note))
    });
    Ok(asked)
}
