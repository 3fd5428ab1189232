//! The milestone filter of item lists.

use db::listing::{Bind, list_of};
use kernel::{Ts, ids::MilestoneId};

use super::part::Part;

/// Which milestones are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MilestoneChoice {
    Titled(String),
    /// One of these titles.
    TitledOneOf(Vec<String>),
    /// Of each project and group, the next one that ends.
    Upcoming,
    /// Those under way.
    Started,
    /// For what is not wanted: over, or due today.
    Ended,
    /// For what is not wanted: yet to begin.
    Ahead,
    OneOf(Vec<MilestoneId>),
}

/// The ids of milestones.
pub(super) fn milestones(which: &MilestoneChoice, today: Ts) -> Part {
    let all = "SELECT m.id FROM milestones m WHERE";
    let active = format!("{all} m.state = 'active' AND");
    let today = today.0;
    match which {
        MilestoneChoice::Titled(title) => {
            Part::with(format!("{all} m.title = {{}}"), vec![Bind::Word(title.clone())])
        }
        MilestoneChoice::TitledOneOf(titles) => {
            let places = vec!["{}"; titles.len()].join(", ");
            let binds = titles.iter().cloned().map(Bind::Word).collect();
            Part::with(format!("{all} m.title IN ({places})"), binds)
        }
        MilestoneChoice::Upcoming => Part::new(format!(
            "{active} m.due_date > {today} AND NOT EXISTS (SELECT 1 FROM milestones n \
             WHERE n.state = 'active' AND n.due_date > {today} \
             AND (n.project_id = m.project_id OR n.namespace_id = m.namespace_id) \
             AND (n.due_date < m.due_date OR (n.due_date = m.due_date AND n.id < m.id)))"
        )),
        MilestoneChoice::Started => Part::new(format!("{active} m.start_date <= {today}")),
        MilestoneChoice::Ended => Part::new(format!("{active} m.due_date <= {today}")),
        MilestoneChoice::Ahead => Part::new(format!("{active} m.start_date > {today}")),
        MilestoneChoice::OneOf(ids) => {
            let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
            Part::new(list_of(&ids))
        }
    }
}
