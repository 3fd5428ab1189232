//! What ran in CI in project archives: pipelines, their jobs, and what jobs share.
//!
//! Nobody goes on in a copy with what was under way in the source, so that is canceled there; what waits for a person still
//! waits. Values of variables, tokens and triggers are secrets, and runners are the installation's: they are left out, and
//! so are bridges to pipelines of other projects. Files of jobs are no rows.

mod additions;
mod completion;
mod jobs;
mod pipelines;
mod restoration;
mod specs;

use db::archive::Relation;
use kernel::TextEnum as _;

use crate::Status;

pub use additions::cut_circles;
pub use completion::{PipelineBounds, complete_jobs, has_oversized_pipeline, unprotect};
pub use jobs::has_work;
pub use restoration::{end_pipelines, reserve_numbers, restore_counters};

/// They come after the merge requests and the schedules, each after those that it names. A pipeline may name jobs and later
/// pipelines: that is added once these are there.
pub static RELATIONS: &[&Relation] = &[
    &jobs::RESOURCE_GROUPS,
    &specs::SPECS,
    &pipelines::PIPELINES,
    &jobs::JOBS,
    &additions::ROOTS,
    &additions::PARENTS,
    &additions::SUCCESSORS,
    &jobs::TEST_SUITES,
];

/// The status that a pipeline or job has in a copy.
fn status_of_copy(word: &str) -> Option<&'static str> {
    let status = Status::find(word)?;
    let copy = if status.is_cancelable() { Status::Canceled } else { status };
    Some(copy.as_str())
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum as _;

    use super::status_of_copy;
    use crate::Status;

    #[test]
    fn what_was_under_way_is_canceled_in_a_copy() {
        for status in Status::ALL {
            let copy = match status {
                Status::Success | Status::Failed | Status::Skipped | Status::Manual => *status,
                _ => Status::Canceled,
            };
            assert_eq!(status_of_copy(status.as_str()), Some(copy.as_str()));
        }
        assert_eq!(status_of_copy("paused"), None);
    }
}
