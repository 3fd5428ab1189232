//! The state of a bridge, derived from its downstream pipeline.

use crate::{Status, job::Step};

use super::Strategy;

/// What a bridge does when its pipeline gets there; nothing while that is under way.
pub fn step_of(strategy: Strategy, downstream: Status) -> Option<Step> {
    match (strategy, downstream) {
        (Strategy::Start, _) => None,
        (Strategy::Depend | Strategy::Mirror, Status::Running) => Some(Step::Run),
        (Strategy::Depend | Strategy::Mirror, Status::Success) => Some(Step::Succeed),
        (Strategy::Depend | Strategy::Mirror, Status::Canceled) => Some(Step::Cancel),
        (Strategy::Depend, Status::Failed | Status::Skipped)
        | (Strategy::Mirror, Status::Failed) => Some(Step::Drop),
        (Strategy::Mirror, Status::Skipped) => Some(Step::Skip),
        (
            Strategy::Depend | Strategy::Mirror,
            Status::Created
            | Status::WaitingForResource
            | Status::Preparing
            | Status::Pending
            | Status::Manual
            | Status::Scheduled,
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{Strategy, step_of};
    use crate::Status;

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for strategy in [Strategy::Start, Strategy::Depend, Strategy::Mirror] {
            for downstream in Status::ALL {
                for bridge in [Status::Pending, Status::Running] {
                    let step = step_of(strategy, *downstream);
                    if let Some(Ok(after)) = step.map(|step| bridge.after(step)) {
                        writeln!(rows, "{strategy:?} {downstream:<8} {bridge:<7} -> {after}")
                            .unwrap();
                    }
                }
            }
        }
        insta::assert_snapshot!(rows);
    }
}
