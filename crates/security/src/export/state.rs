//! The life of an export.

use kernel::{Error, Result};

kernel::text_enum! {
    pub enum Status {
        Created = "created",
        Running = "running",
        Finished = "finished",
        Failed = "failed",
    }
}

kernel::text_enum! {
    pub enum Step {
        Start = "start",
        Finish = "finish",
        Fail = "fail",
        /// The writer was interrupted.
        Retry = "retry",
    }
}

impl Status {
    /// A pair that is not listed is refused.
    pub fn after(self, step: Step) -> Result<Self> {
        use Status::{Created, Failed, Finished, Running};
        Ok(match (self, step) {
            (Created, Step::Start) => Running,
            (Running, Step::Finish) => Finished,
            (Created | Running, Step::Fail) => Failed,
            (Running, Step::Retry) => Created,
            (from, step) => return Err(illegal(from, step)),
        })
    }

    /// Whether the state is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Finished | Self::Failed)
    }
}

fn illegal(from: Status, step: Step) -> Error {
    Error::bad_request().whole(format!("Cannot {step} an export that is {from}"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{Status, Step};

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in Status::ALL {
            for step in Step::ALL {
                if let Ok(to) = from.after(*step) {
                    writeln!(rows, "{from:<8} {step:<6} -> {to}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }
}
