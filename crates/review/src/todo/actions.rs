//! Asking oneself to look at something, seeing what one is asked, and being done with it.

use db::{Tx, each_backend, error, schema::todos};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Result,
    ids::{NamespaceId, NoteId, ProjectId, TodoId, UserId},
    page::{Page, PageRequest},
};

use super::{Todo, TodoAction, TodoState, TodoStore as _};
use crate::{
    Home,
    item::{ItemId, ItemKind, TakesPart, reading},
    note,
    ports::Forge,
};

/// Which to-dos are asked for.
#[derive(Clone, Debug, Default)]
pub struct TodoFilter {
    pub action: Option<TodoAction>,
    pub author: Option<UserId>,
    pub project: Option<ProjectId>,
    /// With the groups inside.
    pub group: Option<NamespaceId>,
    pub state: Option<TodoState>,
    pub kind: Option<ItemKind>,
}

/// Asks oneself to look at the item of that number.
///
/// # Errors
/// `Unchanged` where one is asked to already.
pub fn create<G: TakesPart>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<Todo> {
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
    let user = actor.user()?;
    let within = match filter.group {
        None => None,
        Some(group) => {
            let mut groups = forge.below(tx, actor, group)?;
            groups.push(group);
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
    let page = page.slice(heads.into_iter().map(|head| head.id).collect());
    page.try_map_all(|ids| by_id(tx, &ids))
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
        let state = filter.state.unwrap_or(TodoState::Pending);
        let mut rows = todos::table
            .filter(todos::user_id.eq(user).and(todos::state.eq(state)))
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
        if let Some(action) = filter.action {
            rows = rows.filter(todos::action.eq(action));
        }
        if let Some(author) = filter.author {
            rows = rows.filter(todos::author_id.eq(author));
        }
        if let Some(project) = filter.project {
            rows = rows.filter(todos::project_id.eq(project).assume_not_null());
        }
        if let Some((projects, groups)) = within {
            let inside = todos::project_id.eq_any(projects).assume_not_null();
            let right_inside = todos::namespace_id.eq_any(groups).assume_not_null();
            rows = rows.filter(
                (todos::project_id.is_not_null().and(inside))
                    .or(todos::namespace_id.is_not_null().and(right_inside)),
            );
        }
        if let Some(kind) = filter.kind {
            rows = rows.filter(todos::item_kind.eq(kind));
        }
        rows.load(conn).map_err(error("Todo"))
    })
}

fn by_id(tx: &mut Tx<'_>, ids: &[TodoId]) -> Result<Vec<Todo>> {
    each_backend!(tx, |conn| todos::table
        .filter(todos::id.eq_any(ids))
        .order(todos::id.desc())
        .select(Todo::as_select())
        .load(conn)
        .map_err(error("Todo")))
}

/// One is done with something.
///
/// # Errors
/// `NotFound` for what was asked of nobody, or of somebody else, or is about what one may not read any more.
pub fn finish(tx: &mut Tx<'_>, forge: &impl Forge, actor: Actor, id: TodoId) -> Result<Todo> {
    let user = actor.user()?;
    tx.finish_todo(user, id)?;
    let done = tx.find_todo(user, id)?.ok_or(Error::missing())?;
    let place = (done.item(), done.project_id);
    let said = said(done.note_id, done.project_id, done.namespace_id);
    let is_hidden = reading::readable_anywhere(tx, forge, actor, &[place])?.is_empty()
        || !note::reading::hidden(tx, forge, actor, said.as_slice())?.is_empty();
    if is_hidden { Err(Error::missing()) } else { Ok(done) }
}
