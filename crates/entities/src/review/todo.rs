//! To-dos.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Actor, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::{
    hierarchy,
    namespace::Namespace,
    project::{Project, store::ProjectStore},
    user::{User, store::UserStore},
};
use review::{
    epic::EpicStore,
    issue::IssueStore,
    item::ItemKind,
    merge_request::MergeRequestStore,
    note::NoteStore,
    todo::{Todo, TodoAction, TodoState},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    epic::{EpicEntity, EpicView},
    issue::{IssueEntity, IssueView},
    merge_request::MergeRequestView,
    merge_request_detail::MergeRequestDetail,
};
use crate::{
    org::{brief_user::BriefUser, namespace::NamespaceEntity, project::ProjectIdentity},
    review::merge_request_records as records,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct TodoEntity {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectIdentity>,
    /// Group of the epic; for to-dos about epics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<NamespaceEntity>,
    /// Null when the user has been deleted.
    pub author: Option<BriefUser>,
    #[schema(value_type = String)]
    pub action_name: TodoAction,
    #[schema(value_type = String)]
    pub target_type: ItemKind,
    pub target: Option<TargetEntity>,
    pub target_url: String,
    /// Text of the note, or title of the target.
    pub body: String,
    #[schema(value_type = String)]
    pub state: TodoState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

/// Target of a to-do.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum TargetEntity {
    Issue(Box<IssueEntity>),
    MergeRequest(Box<MergeRequestDetail>),
    Epic(Box<EpicEntity>),
}

impl TargetEntity {
    fn url(&self) -> &str {
        match self {
            Self::Issue(issue) => &issue.web_url,
            Self::MergeRequest(merge_request) => &merge_request.basic.web_url,
            Self::Epic(epic) => &epic.web_url,
        }
    }

    fn title(&self) -> &str {
        match self {
            Self::Issue(issue) => &issue.title,
            Self::MergeRequest(merge_request) => &merge_request.basic.title,
            Self::Epic(epic) => &epic.title,
        }
    }
}

/// What to-dos name, looked up once for a page.
struct TodoContext {
    people: HashMap<UserId, User>,
    projects: HashMap<ProjectId, Project>,
    groups: HashMap<NamespaceId, Namespace>,
    targets: HashMap<(ItemKind, i64), TargetEntity>,
    notes: HashMap<i64, String>,
}

impl TodoEntity {
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, reader: Actor, todos: Vec<Todo>) -> Result<Vec<Self>> {
        let named = TodoContext::load(tx, urls, reader, &todos)?;
        Ok(todos.into_iter().map(|todo| Self::new(urls, &todo, &named)).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, reader: Actor, todo: Todo) -> Result<Self> {
        Self::all(tx, urls, reader, vec![todo])?.pop().ok_or_else(kernel::Error::missing)
    }

    fn new(urls: &Urls, todo: &Todo, named: &TodoContext) -> Self {
        let target = named.targets.get(&(todo.item_kind, todo.item_id));
        let url = target.map(TargetEntity::url).unwrap_or_default();
        let note = todo.note_id.map(|id| id.0);
        let said = note.and_then(|id| named.notes.get(&id));
        let title = target.map(TargetEntity::title).unwrap_or_default();
        Self {
            id: todo.id.0,
            project: todo
                .project_id
                .and_then(|id| named.projects.get(&id))
                .map(ProjectIdentity::from),
            group: todo
                .namespace_id
                .and_then(|id| named.groups.get(&id))
                .map(|group| NamespaceEntity::new(urls, group)),
            author: named.people.get(&todo.author_id).map(|user| BriefUser::new(urls, user)),
            action_name: todo.action,
            target_type: todo.item_kind,
            target: target.cloned(),
            target_url: note.map_or(url.to_owned(), |id| format!("{url}#note_{id}")),
            body: said.map_or(title, String::as_str).to_owned(),
            state: todo.state,
            created_at: todo.created_at,
            updated_at: todo.updated_at,
        }
    }
}

impl TodoContext {
    fn load(tx: &mut Tx<'_>, urls: &Urls, reader: Actor, todos: &[Todo]) -> Result<Self> {
        let mut authors: Vec<UserId> = todos.iter().map(|todo| todo.author_id).collect();
        authors.sort_unstable();
        authors.dedup();
        let mut projects: Vec<ProjectId> =
            todos.iter().filter_map(|todo| todo.project_id).collect();
        projects.sort_unstable();
        projects.dedup();
        let groups: BTreeSet<NamespaceId> =
            todos.iter().filter_map(|todo| todo.namespace_id).collect();
        let groups: Vec<NamespaceId> = groups.into_iter().collect();
        let notes: Vec<_> = todos.iter().filter_map(|todo| todo.note_id).collect();
        let notes = tx.notes_by_id(&notes)?;
        Ok(Self {
            people: tx.users_by_id(&authors)?,
            projects: tx
                .projects_by_id(&projects)?
                .into_iter()
                .map(|project| (project.id, project))
                .collect(),
            groups: hierarchy::known_groups(tx, reader, &groups)?
                .into_iter()
                .map(|group| (group.id, group))
                .collect(),
            targets: targets(tx, urls, reader, todos)?,
            notes: notes.into_iter().map(|note| (note.id.0, note.body)).collect(),
        })
    }
}

fn targets(
    tx: &mut Tx<'_>,
    urls: &Urls,
    reader: Actor,
    todos: &[Todo],
) -> Result<HashMap<(ItemKind, i64), TargetEntity>> {
    let of = |kind: ItemKind| {
        let mut ids: Vec<i64> =
            todos.iter().filter(|todo| todo.item_kind == kind).map(|todo| todo.item_id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    let issues = tx.issues_in_order(&of(ItemKind::Issue))?;
    let issues = IssueEntity::all(tx, urls, issues, &IssueView::of(reader))?;
    let merge_requests = tx.merge_requests_in_order(&of(ItemKind::MergeRequest))?;
    let view = MergeRequestView::default();
    let merge_requests = records::listed(tx, urls, reader, &merge_requests, &view)?;
    let issues = issues
        .into_iter()
        .map(|issue| ((ItemKind::Issue, issue.id), TargetEntity::Issue(Box::new(issue))));
    let merge_requests = merge_requests.into_iter().map(|row| {
        ((ItemKind::MergeRequest, row.basic.id), TargetEntity::MergeRequest(Box::new(row)))
    });
    let epics = tx.epics_in_order(&of(ItemKind::Epic))?;
    let epics = EpicEntity::all(tx, urls, epics, &EpicView::of(reader))?;
    let epics = epics
        .into_iter()
        .map(|epic| ((ItemKind::Epic, epic.id), TargetEntity::Epic(Box::new(epic))));
    Ok(issues.chain(merge_requests).chain(epics).collect())
}
