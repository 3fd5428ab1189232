//! The state of a bridge, derived from its downstream pipeline.

use crate::{Status, job::Step};

/// Whether a bridge is done when its pipeline is there, or when that one is done, or whether it takes the status of a
/// pipeline, which may wait for somebody or be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Start,
    Depend,
    Mirror,
}

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

/// The status of a bridge that takes the one of another pipeline; `None` where it keeps its own.
pub(super) fn mirrored_status(bridge: Status, other: Status) -> Option<Status> {
    let step = |from: Status| from.after(step_of(Strategy::Mirror, other)?).ok();
    match (bridge, other) {
        (Status::Pending | Status::Running, Status::Manual) => Some(Status::Manual),
        // What waited for somebody there goes on.
        (Status::Manual, _) => step(Status::Pending),
        _ => step(bridge),
    }
}

/// The status of a bridge once the pipeline that it made has another one; `None` where it keeps its own.
pub(super) fn status_after(
    strategy: Strategy,
    bridge: Status,
    downstream: Status,
) -> Option<Status> {
    match (strategy, bridge) {
        (Strategy::Mirror, Status::Manual) if downstream.is_cancelable() => {
            // Somebody played what was waited for, and it is not running yet.
            mirrored_status(bridge, downstream).or(Some(Status::Pending))
        }
        (Strategy::Mirror, _) => mirrored_status(bridge, downstream),
        _ => bridge.after(step_of(strategy, downstream)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{Strategy, status_after, step_of};
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

    #[test]
    fn a_bridge_that_mirrors_its_pipeline_waits_for_somebody_when_that_does() {
        let mut rows = String::new();
        for downstream in Status::ALL {
            for bridge in [Status::Pending, Status::Running, Status::Manual, Status::Success] {
                if let Some(after) = status_after(Strategy::Mirror, bridge, *downstream) {
                    writeln!(rows, "{downstream:<20} {bridge:<7} -> {after}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }
}
