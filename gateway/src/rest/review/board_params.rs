//! Parameters of boards, in projects and groups alike.

use kernel::ids::{LabelId, MilestoneId, UserId};
use review::board::{
    actions::{BoardChange, BoardLabels},
    lists::NewList,
};

use crate::{
    extract::{Change, Csv},
    params,
};

params! {
    pub struct OneBoard {
        board_id: i64,
    }
}

params! {
    pub struct OneBoardList {
        board_id: i64,
        list_id: i64,
    }
}

params! {
    pub struct CreateBoard {
        /// At most 255 characters.
        name: String,
    }
}

params! {
    pub struct ChangeBoard {
        /// At most 255 characters.
        name: Option<String>,
        /// Whether the list of what is open and in no other list is hidden.
        hide_backlog_list: Option<bool>,
        /// Whether the list of what is closed is hidden.
        hide_closed_list: Option<bool>,
        /// Who looks after all issues of the board; null for anybody.
        assignee_id: Change<UserId>,
        /// The milestone of all issues of the board; null for any.
        milestone_id: Change<MilestoneId>,
        /// Names of labels that all issues of the board have; unknown ones are made.
        labels: Option<Csv<String>>,
        /// The weight of all issues of the board, from 0; null for any.
        weight: Change<i64>,
    }
}

impl From<ChangeBoard> for BoardChange {
    fn from(params: ChangeBoard) -> Self {
        Self {
            name: params.name,
            hide_backlog_list: params.hide_backlog_list,
            hide_closed_list: params.hide_closed_list,
            labels: params.labels.map(|names| BoardLabels::Named(names.0)),
            milestone: params.milestone_id.into_update(),
            assignee: params.assignee_id.into_update(),
            weight: params.weight.into_update(),
            ..Self::default()
        }
    }
}

params! {
    pub struct CreateBoardList {
        label_id: Option<LabelId>,
        assignee_id: Option<UserId>,
        milestone_id: Option<MilestoneId>,
        iteration_id: Option<i64>,
    } with exactly_one("label_id", "assignee_id", "milestone_id", "iteration_id");
}

impl CreateBoardList {
    /// What the list is for; where nothing was named, a label that is none.
    pub(super) fn new_list(&self) -> NewList {
        let label = NewList::Label(self.label_id.unwrap_or(LabelId(0)));
        let assignee = self.assignee_id.map(NewList::Assignee);
        let milestone = self.milestone_id.map(NewList::Milestone);
        let iteration = self.iteration_id.map(NewList::Iteration);
        assignee.or(milestone).or(iteration).unwrap_or(label)
    }
}

params! {
    pub struct ReorderBoardList {
        /// The new place, from 0.
        position: i64,
    }
}
