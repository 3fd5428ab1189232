//! Item conditions of a board and its lists.

use kernel::ids::{LabelId, MilestoneId, UserId};

use super::model::{Board, BoardList, ListKind};
use crate::item::list::{Choice, Conditions, MilestoneChoice};

/// The conditions of a board and one of its lists, all of which an item must meet.
#[derive(Clone, Debug, Default)]
pub struct BoardCondition {
    labels: Vec<LabelId>,
    assignees: Vec<UserId>,
    milestones: Vec<MilestoneId>,
    iterations: Vec<i64>,
    /// In one of the iterations of this cadence.
    cadence: Option<i64>,
    weight: Option<i64>,
    without: Exclusion,
}

/// The conditions of a board's other lists.
#[derive(Clone, Debug, Default)]
struct Exclusion {
    labels: Vec<LabelId>,
    assignees: Vec<UserId>,
    milestones: Vec<MilestoneId>,
    iterations: Vec<i64>,
}

impl BoardCondition {
    /// Of all items of a board.
    pub fn of_board(board: &Board, labels: &[LabelId]) -> Self {
        Self {
            labels: labels.to_vec(),
            assignees: board.assignee_id.into_iter().collect(),
            milestones: board.milestone_id.into_iter().collect(),
            iterations: board.iteration_id.into_iter().collect(),
            cadence: board.iteration_cadence_id.filter(|_| board.iteration_id.is_none()),
            weight: board.weight,
            without: Exclusion::default(),
        }
    }

    /// Of one list, with the other lists of its board. Whether items are open or closed is not part of it.
    pub fn of_list(board: &Board, labels: &[LabelId], list: &BoardList, all: &[BoardList]) -> Self {
        let mut asked = Self::of_board(board, labels);
        match list.kind {
            ListKind::Backlog => {
                asked.without = Exclusion {
                    labels: all.iter().filter_map(|other| other.label_id).collect(),
                    assignees: all.iter().filter_map(|other| other.user_id).collect(),
                    milestones: all.iter().filter_map(|other| other.milestone_id).collect(),
                    iterations: all.iter().filter_map(|other| other.iteration_id).collect(),
                };
            }
            ListKind::Label
            | ListKind::Assignee
            | ListKind::Milestone
            | ListKind::Iteration
            | ListKind::Closed => {
                asked.labels.extend(list.label_id);
                asked.assignees.extend(list.user_id);
                asked.milestones.extend(list.milestone_id);
                asked.iterations.extend(list.iteration_id);
            }
        }
        asked
    }

    pub(crate) fn ask(&self, all: &mut Conditions) {
        for label in &self.labels {
            all.labelled_with_id(label.0);
        }
        if !self.assignees.is_empty() {
            all.assigned(&Choice::These(self.assignees.clone()));
        }
        for milestone in &self.milestones {
            all.column("milestone_id", milestone.0);
        }
        for iteration in &self.iterations {
            all.column("iteration_id", *iteration);
        }
        if let Some(cadence) = self.cadence {
            all.plain(format!(
                "i.iteration_id IN (SELECT c.id FROM iterations c WHERE c.cadence_id = {cadence})"
            ));
        }
        if let Some(weight) = self.weight {
            all.plain(format!("i.weight = {weight}"));
        }
        self.without.ask(all);
    }
}

impl Exclusion {
    fn ask(&self, all: &mut Conditions) {
        let labels: Vec<i64> = self.labels.iter().map(|label| label.0).collect();
        all.labelled_with_none_of(&labels);
        if !self.assignees.is_empty() {
            all.not_assigned(&Choice::These(self.assignees.clone()));
        }
        if !self.milestones.is_empty() {
            let these = MilestoneChoice::OneOf(self.milestones.clone());
            // No milestone of these is asked for by days.
            all.not_milestone(&Choice::These(these), kernel::Ts::default());
        }
        if !self.iterations.is_empty() {
            let these = db::listing::list_of(&self.iterations);
            all.plain(format!("(i.iteration_id IS NULL OR i.iteration_id NOT IN ({these}))"));
        }
    }
}
