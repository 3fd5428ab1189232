//! Boards and their lists.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Actor, Error, Result, Ts,
    ids::{LabelId, MilestoneId, NamespaceId, UserId},
};
use org::{
    hierarchy::group_paths,
    namespace::store::NamespaceStore as _,
    project::{Detail, store::ProjectStore as _, view},
};
use review::{
    Home,
    board::{Board, BoardList, LimitMetric, ListKind, lists::BoardWithLists},
    label::{Label, LabelStore as _, text_color},
    milestone::MilestoneStore as _,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{iteration::IterationEntity, milestone::MilestoneEntity};
use crate::org::{brief_user::BriefUser, project::BasicProject};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoardLabel {
    pub id: i64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub description_html: String,
    pub text_color: &'static str,
}

impl From<&Label> for BoardLabel {
    fn from(label: &Label) -> Self {
        Self {
            id: label.id.0,
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
            description_html: markup::inline(label.description.as_deref().unwrap_or_default()),
            text_color: text_color(&label.color),
        }
    }
}

/// The group of a board.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoardGroup {
    pub id: i64,
    pub web_url: String,
    pub name: String,
}

impl BoardGroup {
    fn of(tx: &mut Tx<'_>, urls: &Urls, group: NamespaceId) -> Result<Self> {
        let name = tx.namespace(group)?.name;
        let path = group_paths(tx, &[group])?.remove(&group).unwrap_or_default();
        Ok(Self { id: group.0, web_url: urls.at(&format!("groups/{path}")), name })
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BoardListEntity {
    pub id: i64,
    /// Null for lists of people, milestones and iterations.
    pub label: Option<BoardLabel>,
    /// Counts from 0.
    pub position: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestone: Option<MilestoneEntity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<BriefUser>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<IterationEntity>,
    /// 0: no limit.
    pub max_issue_count: i64,
    /// 0: no limit.
    pub max_issue_weight: i64,
    /// `all_metrics`, `issue_count` or `issue_weights`.
    #[schema(value_type = Option<String>)]
    pub limit_metric: Option<LimitMetric>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BoardEntity {
    pub id: i64,
    pub name: String,
    pub hide_backlog_list: bool,
    pub hide_closed_list: bool,
    /// Null for boards of groups.
    pub project: Option<BasicProject>,
    /// Null for boards of projects.
    pub group: Option<BoardGroup>,
    pub milestone: Option<MilestoneEntity>,
    pub iteration: Option<IterationEntity>,
    pub assignee: Option<BriefUser>,
    pub labels: Vec<BoardLabel>,
    pub weight: Option<i64>,
    pub lists: Vec<BoardListEntity>,
}

/// What boards and lists name, loaded for all of them at once.
struct NamedRecords {
    labels: HashMap<LabelId, BoardLabel>,
    milestones: HashMap<MilestoneId, MilestoneEntity>,
    people: HashMap<UserId, BriefUser>,
    iterations: HashMap<i64, IterationEntity>,
}

/// Loads what lists, and the boards around them, name.
fn named(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    boards: &[&Board],
    lists: &[&BoardList],
) -> Result<NamedRecords> {
    let of_lists = lists.iter();
    let labels: Vec<LabelId> = of_lists.clone().filter_map(|list| list.label_id).collect();
    let mut milestones: Vec<MilestoneId> =
        of_lists.clone().filter_map(|list| list.milestone_id).collect();
    let mut people: Vec<UserId> = of_lists.clone().filter_map(|list| list.user_id).collect();
    let mut iterations: Vec<i64> = of_lists.filter_map(|list| list.iteration_id).collect();
    for board in boards {
        milestones.extend(board.milestone_id);
        people.extend(board.assignee_id);
        iterations.extend(board.iteration_id);
    }
    let labels = tx.labels_by_id(&labels)?;
    let milestones = tx.milestones_by_id(&milestones)?;
    let milestones = MilestoneEntity::all(tx, urls, milestones)?.into_iter();
    let people = BriefUser::in_order(tx, urls, &people)?.into_iter();
    Ok(NamedRecords {
        labels: labels.iter().map(|label| (label.id, label.into())).collect(),
        milestones: milestones.map(|one| (MilestoneId(one.id), one)).collect(),
        people: people.map(|one| (UserId(one.id), one)).collect(),
        iterations: IterationEntity::of(tx, urls, actor, &iterations)?,
    })
}

impl BoardListEntity {
    /// What the lists name is loaded once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        lists: &[BoardList],
    ) -> Result<Vec<Self>> {
        let named = named(tx, urls, actor, &[], &lists.iter().collect::<Vec<_>>())?;
        Ok(lists.iter().map(|list| Self::new(list, &named)).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, list: &BoardList) -> Result<Self> {
        let mut all = Self::all(tx, urls, actor, std::slice::from_ref(list))?;
        all.pop().ok_or_else(Error::missing)
    }

    fn new(list: &BoardList, named: &NamedRecords) -> Self {
        Self {
            id: list.id,
            label: list.label_id.and_then(|id| named.labels.get(&id).cloned()),
            position: list.position,
            milestone: list.milestone_id.and_then(|id| named.milestones.get(&id).cloned()),
            assignee: list.user_id.and_then(|id| named.people.get(&id).cloned()),
            iteration: list.iteration_id.and_then(|id| named.iterations.get(&id).cloned()),
            max_issue_count: list.max_issue_count,
            max_issue_weight: list.max_issue_weight,
            limit_metric: list.limit_metric,
        }
    }
}

impl BoardEntity {
    /// Boards of one project or group; what they name is loaded once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        (home, actor): (Home, Actor),
        boards: Vec<Board>,
    ) -> Result<Vec<Self>> {
        if boards.is_empty() {
            return Ok(Vec::new());
        }
        let whole = BoardWithLists::all(tx, boards)?;
        let rows: Vec<&Board> = whole.iter().map(|one| &one.board).collect();
        let lists: Vec<&BoardList> = whole.iter().flat_map(BoardWithLists::movable).collect();
        let named = named(tx, urls, actor, &rows, &lists)?;
        let projects = match home {
            Home::Project(project) => tx.projects_by_id(&[project])?,
            Home::Group(_) => Vec::new(),
        };
        let project = view::page(tx, actor, projects, Detail::Basic)?.pop();
        let group = home.group().map(|group| BoardGroup::of(tx, urls, group)).transpose()?;
        let entity = |one: &BoardWithLists| {
            let board = &one.board;
            Self {
                id: board.id,
                name: board.name.clone(),
                hide_backlog_list: board.hide_backlog_list,
                hide_closed_list: board.hide_closed_list,
                project: project.as_ref().map(|shown| BasicProject::new(urls, shown)),
                group: group.clone(),
                milestone: board.milestone_id.and_then(|id| named.milestones.get(&id).cloned()),
                iteration: board.iteration_id.and_then(|id| named.iterations.get(&id).cloned()),
                assignee: board.assignee_id.and_then(|id| named.people.get(&id).cloned()),
                labels: one.labels.iter().map(Into::into).collect(),
                weight: board.weight,
                lists: one.movable().map(|list| BoardListEntity::new(list, &named)).collect(),
            }
        };
        Ok(whole.iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, at: (Home, Actor), board: Board) -> Result<Self> {
        Self::all(tx, urls, at, vec![board])?.pop().ok_or_else(Error::missing)
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EpicListEntity {
    pub id: i64,
    pub label: Option<BoardLabel>,
    /// Counts from 0.
    pub position: i64,
    /// `label`: lists of epics are made for labels alone.
    #[schema(value_type = String)]
    pub list_type: ListKind,
}

impl EpicListEntity {
    pub fn all(tx: &mut Tx<'_>, lists: &[BoardList]) -> Result<Vec<Self>> {
        let ids: Vec<LabelId> = lists.iter().filter_map(|list| list.label_id).collect();
        let labels = tx.labels_by_id(&ids)?;
        Ok(lists.iter().map(|list| Self::new(list, &labels)).collect())
    }

    fn new(list: &BoardList, labels: &[Label]) -> Self {
        let label = labels.iter().find(|label| Some(label.id) == list.label_id);
        Self {
            id: list.id,
            label: label.map(Into::into),
            position: list.position,
            list_type: list.kind,
        }
    }
}

/// A label that all epics of a board have.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpicBoardLabel {
    pub id: i64,
    pub title: String,
    pub color: String,
    pub description: Option<String>,
    pub group_id: Option<i64>,
    pub project_id: Option<i64>,
    pub template: bool,
    pub text_color: &'static str,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

impl From<&Label> for EpicBoardLabel {
    fn from(label: &Label) -> Self {
        Self {
            id: label.id.0,
            title: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
            group_id: label.namespace_id.map(|group| group.0),
            project_id: label.project_id.map(|project| project.0),
            // Labels are made one by one here, and not of templates.
            template: false,
            text_color: text_color(&label.color),
            created_at: label.created_at,
            updated_at: label.updated_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EpicBoardEntity {
    pub id: i64,
    pub name: String,
    pub hide_backlog_list: bool,
    pub hide_closed_list: bool,
    pub group: BoardGroup,
    pub labels: Vec<EpicBoardLabel>,
    pub lists: Vec<EpicListEntity>,
}

impl EpicBoardEntity {
    /// Boards of one group; what they name is loaded once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        group: NamespaceId,
        boards: Vec<Board>,
    ) -> Result<Vec<Self>> {
        let group = BoardGroup::of(tx, urls, group)?;
        let whole = BoardWithLists::all(tx, boards)?;
        let lists = whole.iter().flat_map(BoardWithLists::movable);
        let labels: Vec<LabelId> = lists.filter_map(|list| list.label_id).collect();
        let labels = tx.labels_by_id(&labels)?;
        let entity = |one: &BoardWithLists| Self {
            id: one.board.id,
            name: one.board.name.clone(),
            hide_backlog_list: one.board.hide_backlog_list,
            hide_closed_list: one.board.hide_closed_list,
            group: group.clone(),
            labels: one.labels.iter().map(Into::into).collect(),
            lists: one.movable().map(|list| EpicListEntity::new(list, &labels)).collect(),
        };
        Ok(whole.iter().map(entity).collect())
    }
}
