//! Issues, merge requests, epics and to-do items with what belongs to them, as they are handed from field to field.

use std::sync::Arc;

use db::Tx;
use entities::review::{
    epic::{EpicEntity, EpicView},
    issue::{IssueEntity, IssueView},
    merge_request::{MergeRequestEntity, MergeRequestView},
    todo::TodoEntity,
};
use forge::{ports::directory::Directory, urls::Urls};
use kernel::{
    Actor, Result, Standing,
    ids::{IssueId, MergeRequestId, NamespaceId, ProjectId, UserId},
};
use review::{
    Home,
    epic::Epic,
    issue::{Issue, IssueStore as _},
    item::{Item, ItemId, ItemKind, reading::readable},
    label::Label,
    merge_request::{MergeRequest, MergeRequestStore as _, change::may_update_as},
    todo::Todo,
};

/// An item's id, the author, and where it is: what questions about items of several kinds need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemKey {
    pub kind: ItemKind,
    pub id: i64,
    pub author: UserId,
    /// The project, or for epics the group.
    pub home: i64,
}

impl ItemKey {
    pub fn of(item: &Item) -> Self {
        let home = match item.home {
            Home::Project(project) => project.0,
            Home::Group(group) => group.0,
        };
        Self { kind: item.id.kind, id: item.id.id, author: item.author, home }
    }

    pub fn place(&self) -> Home {
        match self.kind {
            ItemKind::Epic => Home::Group(NamespaceId(self.home)),
            ItemKind::Issue | ItemKind::MergeRequest => Home::Project(ProjectId(self.home)),
        }
    }

    pub fn item(&self) -> ItemId {
        ItemId { kind: self.kind, id: self.id }
    }
}

/// An issue with what belongs to it.
#[derive(Clone, Debug)]
pub struct IssueRecord {
    pub row: Issue,
    pub shown: IssueEntity,
    pub labels: Arc<Vec<Label>>,
}

impl IssueRecord {
    /// What belongs to them is looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, rows: Vec<Issue>) -> Result<Vec<Self>> {
        let shown = IssueEntity::all_labelled(tx, urls, rows.clone(), &IssueView::of(actor))?;
        let record = |(row, (shown, labels))| Self { row, shown, labels: Arc::new(labels) };
        Ok(rows.into_iter().zip(shown).map(record).collect())
    }

    /// Those of these issues that somebody may read.
    pub fn readable(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        ids: &[IssueId],
    ) -> Result<Vec<Self>> {
        let rows = readable_issues(tx, urls, actor, ids)?;
        Self::all(tx, urls, actor, rows)
    }

    pub fn key(&self) -> ItemKey {
        ItemKey::of(&self.row.item())
    }
}

/// An epic with what belongs to it.
#[derive(Clone, Debug)]
pub struct EpicRecord {
    pub row: Epic,
    pub shown: EpicEntity,
}

impl EpicRecord {
    /// What belongs to them is looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, rows: Vec<Epic>) -> Result<Vec<Self>> {
        let shown = EpicEntity::all(tx, urls, rows.clone(), &EpicView::of(actor))?;
        Ok(rows.into_iter().zip(shown).map(|(row, shown)| Self { row, shown }).collect())
    }

    pub fn key(&self) -> ItemKey {
        ItemKey::of(&self.row.whole())
    }
}

/// A merge request with what belongs to it.
#[derive(Clone, Debug)]
pub struct MergeRequestRecord {
    pub row: MergeRequest,
    pub shown: MergeRequestEntity,
}

impl MergeRequestRecord {
    /// What belongs to them is looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, rows: Vec<MergeRequest>) -> Result<Vec<Self>> {
        let view = MergeRequestView::default();
        let shown = MergeRequestEntity::all(tx, urls, rows.clone(), &view)?;
        Ok(rows.into_iter().zip(shown).map(|(row, shown)| Self { row, shown }).collect())
    }

    /// Those of these merge requests that somebody may read, who says who they are.
    pub fn readable(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        ids: &[MergeRequestId],
    ) -> Result<Vec<Self>> {
        if actor.id.is_none() {
            return Ok(Vec::new());
        }
        let rows = readable_merge_requests(tx, urls, actor, ids)?;
        Self::all(tx, urls, rows)
    }

    pub fn key(&self) -> ItemKey {
        ItemKey::of(&self.row.item())
    }

    pub fn is_assigned(&self, user: UserId) -> bool {
        self.shown.assignees.iter().any(|assignee| assignee.id == user.0)
    }

    /// Whether a user who stands so in the project may change it.
    pub fn may_update(&self, who: &Standing) -> bool {
        let assigned = who.actor.id.is_some_and(|user| self.is_assigned(user));
        may_update_as(who, &self.row, assigned)
    }
}

/// A to-do item with what it shows.
#[derive(Debug)]
pub struct TodoRecord {
    pub row: Todo,
    pub shown: TodoEntity,
}

impl TodoRecord {
    /// What belongs to them is looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, reader: Actor, rows: Vec<Todo>) -> Result<Vec<Self>> {
        let shown = TodoEntity::all(tx, urls, reader, rows.clone())?;
        Ok(rows.into_iter().zip(shown).map(|(row, shown)| Self { row, shown }).collect())
    }
}

/// Those of these issues that somebody may read.
fn readable_issues(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    ids: &[IssueId],
) -> Result<Vec<Issue>> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut rows = tx.issues_in_order(&ids)?;
    let places: Vec<(ItemId, ProjectId)> =
        rows.iter().map(|row| (row.id.into(), row.project_id)).collect();
    let seen = readable(tx, &Directory::new(urls), actor, &places)?;
    rows.retain(|row| seen.contains(&row.id.into()));
    Ok(rows)
}

/// Those of these merge requests that somebody may read.
fn readable_merge_requests(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    ids: &[MergeRequestId],
) -> Result<Vec<MergeRequest>> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut rows = tx.merge_requests_in_order(&ids)?;
    let places: Vec<(ItemId, ProjectId)> =
        rows.iter().map(|row| (row.id.into(), row.project_id)).collect();
    let seen = readable(tx, &Directory::new(urls), actor, &places)?;
    rows.retain(|row| seen.contains(&row.id.into()));
    Ok(rows)
}
