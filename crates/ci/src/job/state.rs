//! The life of a job.

use kernel::{Error, Result, TextEnum as _};

use crate::Status;

kernel::text_enum! {
    /// Steps of a job's state machine, as error messages name them.
    pub enum Step {
        /// What it waited for runs again.
        Process = "process",
        Enqueue = "enqueue",
        /// Only one of its resource group runs at a time.
        AwaitResource = "enqueue_waiting_for_resource",
        Grant = "grant_resource",
        Schedule = "schedule",
        Unschedule = "unschedule",
        /// It waits for a person.
        Actionize = "actionize",
        Run = "run",
        Skip = "skip",
        Succeed = "success",
        Drop = "drop",
        Cancel = "cancel",
    }
}

impl Status {
    /// The whole life of a job. A pair that is not listed is refused.
    pub fn after(self, step: Step) -> Result<Self> {
        use Status::{
            Canceled, Created, Failed, Manual, Pending, Preparing, Running, Scheduled, Skipped,
            Success, WaitingForResource,
        };
        Ok(match (self, step) {
            (Skipped | Manual, Step::Process) => Created,
            (Created | Skipped | Manual | Scheduled, Step::Enqueue)
            | (WaitingForResource, Step::Grant) => Pending,
            (Created | Skipped | Manual | Scheduled, Step::AwaitResource) => WaitingForResource,
            (Created, Step::Schedule) => Scheduled,
            // What is about to run may have to be approved first.
            (Scheduled, Step::Unschedule)
            | (Created | Pending | WaitingForResource, Step::Actionize) => Manual,
            (Pending, Step::Run) => Running,
            (Created | WaitingForResource | Preparing | Pending, Step::Skip) => Skipped,
            (Created | WaitingForResource | Preparing | Pending | Running, Step::Succeed) => {
                Success
            }
            (
                Created | WaitingForResource | Preparing | Pending | Running | Manual | Scheduled,
                Step::Drop,
            ) => Failed,
            (
                Created | WaitingForResource | Preparing | Pending | Running | Manual | Scheduled,
                Step::Cancel,
            ) => Canceled,
            (from, step) => return Err(illegal(from, step)),
        })
    }
}

fn illegal(from: Status, step: Step) -> Error {
    let name = step.as_str();
    Error::bad_request().whole(format!(
        "Cannot transition status via :{name} from :{from} (Reason(s): Status cannot transition via \"{name}\")"
    ))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::{TextEnum as _, error::Kind};

    use super::Step;
    use crate::Status;

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in Status::ALL {
            for step in Step::ALL {
                if let Ok(to) = from.after(*step) {
                    writeln!(rows, "{from:<20} {step:<8} -> {to}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }

    #[test]
    fn a_refusal_names_the_step_and_the_status() {
        let refused = Status::Pending.after(Step::Enqueue).unwrap_err();
        assert_eq!(
            refused.into_whole(Kind::BadRequest).unwrap(),
            "Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via \"enqueue\")"
        );
    }
}
