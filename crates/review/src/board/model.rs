//! A board, and its lists.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{LabelId, MilestoneId, NamespaceId, ProjectId, UserId},
};

use crate::{Home, item::ItemKind};

kernel::text_enum! {
    /// The attribute by which a list selects items.
    pub enum ListKind {
        /// What is open and in no other list.
        Backlog = "backlog",
        Label = "label",
        Assignee = "assignee",
        Milestone = "milestone",
        Iteration = "iteration",
        Closed = "closed",
    }
}

impl ListKind {
    /// Whether people make such lists, and order them.
    pub fn is_movable(self) -> bool {
        !matches!(self, Self::Backlog | Self::Closed)
    }
}

kernel::text_enum! {
    /// The metric of a list's limit.
    pub enum LimitMetric {
        AllMetrics = "all_metrics",
        IssueCount = "issue_count",
        IssueWeights = "issue_weights",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::boards, check_for_backend(db::AnyBackend))]
pub struct Board {
    pub id: i64,
    pub item_kind: ItemKind,
    /// Set for a project's board; otherwise `namespace_id` is.
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub name: String,
    pub hide_backlog_list: bool,
    pub hide_closed_list: bool,
    /// Whether epics are shown in their colours.
    pub display_colors: bool,
    /// What all issues of the board have: beside its labels, these.
    pub milestone_id: Option<MilestoneId>,
    pub iteration_id: Option<i64>,
    pub iteration_cadence_id: Option<i64>,
    pub assignee_id: Option<UserId>,
    pub weight: Option<i64>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Board {
    /// The project or group that it belongs to; one that belongs to nothing is nobody's.
    pub fn home(&self) -> Home {
        match (self.project_id, self.namespace_id) {
            (Some(project), _) => Home::Project(project),
            (None, group) => Home::Group(group.unwrap_or(NamespaceId(0))),
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::board_lists, check_for_backend(db::AnyBackend))]
pub struct BoardList {
    pub id: i64,
    pub board_id: i64,
    pub kind: ListKind,
    pub label_id: Option<LabelId>,
    pub user_id: Option<UserId>,
    pub milestone_id: Option<MilestoneId>,
    pub iteration_id: Option<i64>,
    /// Among the lists that people made, from 0; 0 for the two others.
    pub position: i64,
    /// 0 stands for no limit.
    pub max_issue_count: i64,
    pub max_issue_weight: i64,
    pub limit_metric: Option<LimitMetric>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Limits of a list to change; `None` keeps a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListLimits {
    pub max_issue_count: Option<i64>,
    pub max_issue_weight: Option<i64>,
    pub limit_metric: Option<Option<LimitMetric>>,
}
