//! The life of a deployment.

use kernel::{Error, Result, TextEnum as _};

kernel::text_enum! {
    pub enum DeploymentStatus {
        Created = "created",
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
        /// Its job was skipped.
        Skipped = "skipped",
        /// It waits for approvals.
        Blocked = "blocked",
    }
}

kernel::text_enum! {
    /// Steps of a deployment, as error messages name them.
    pub enum DeploymentStep {
        Run = "run",
        Succeed = "succeed",
        Drop = "drop",
        Cancel = "cancel",
        Skip = "skip",
        Block = "block",
        Unblock = "unblock",
        /// Its job, which was skipped, may begin after all.
        Revive = "revive",
        /// Its job waits again, since the runner that took it never knew of it.
        Requeue = "requeue",
    }
}

impl DeploymentStatus {
    /// The whole life of a deployment. A pair that is not listed is refused.
    pub fn after(self, step: DeploymentStep) -> Result<Self> {
        use DeploymentStep as Step;
        let to = match step {
            Step::Run => Self::Running,
            Step::Succeed => Self::Success,
            Step::Drop => Self::Failed,
            Step::Cancel => Self::Canceled,
            Step::Skip => Self::Skipped,
            Step::Block => Self::Blocked,
            Step::Unblock | Step::Revive | Step::Requeue => Self::Created,
        };
        let fits = match step {
            Step::Run | Step::Block => self == Self::Created,
            Step::Unblock => self == Self::Blocked,
            Step::Revive => self == Self::Skipped,
            Step::Requeue => self == Self::Running,
            Step::Succeed | Step::Drop | Step::Cancel | Step::Skip => self != to,
        };
        match fits {
            true => Ok(to),
            false => {
                let text = format!("cannot transition via \"{}\"", step.as_str());
                Err(Error::invalid("status", text))
            }
        }
    }

    /// Whether it has ended.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Canceled)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{DeploymentStatus, DeploymentStep};

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in DeploymentStatus::ALL {
            for step in DeploymentStep::ALL {
                if let Ok(to) = from.after(*step) {
                    writeln!(rows, "{from:<10} {step:<8} -> {to}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }

    #[test]
    fn a_refusal_names_the_step() {
        let refused = DeploymentStatus::Running.after(DeploymentStep::Run).unwrap_err();
        assert_eq!(
            refused.into_fields().unwrap(),
            [("status".to_owned(), vec!["cannot transition via \"run\"".to_owned()])]
        );
    }
}
