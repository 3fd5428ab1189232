//! Failure reasons of a job.

use std::time::Duration;

use crate::{api::FinalState, control::Interrupt, process::End};

#[derive(Debug)]
pub(crate) enum Failure {
    /// Its own commands failed.
    Script {
        exit_code: i32,
    },
    /// It asks for what cannot be.
    Configuration(String),
    ImagePull(String),
    /// What it left behind was not taken.
    Result(String),
    Timeout(Option<Duration>),
    Interrupted(Interrupt),
    /// This machine or the server has trouble: another attempt may succeed.
    System(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::System(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::System(error.into())
    }
}

/// What the end of a process means for its job.
pub(crate) fn checked(end: End) -> Result<(), Failure> {
    match end {
        End::Exited(0) => Ok(()),
        End::Exited(exit_code) => Err(Failure::Script { exit_code }),
        End::TimedOut => Err(Failure::Timeout(None)),
        End::Interrupted(interrupt) => Err(Failure::Interrupted(interrupt)),
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Script { exit_code } => write!(f, "exit code {exit_code}"),
            Self::Configuration(text) | Self::ImagePull(text) | Self::Result(text) => {
                f.write_str(text)
            }
            Self::Timeout(Some(limit)) => {
                write!(f, "execution took longer than {} seconds", limit.as_secs())
            }
            Self::Timeout(None) => f.write_str("execution took too long"),
            Self::Interrupted(Interrupt::Canceled) => f.write_str("canceled"),
            Self::Interrupted(Interrupt::RunnerStopped) => f.write_str("the runner was stopped"),
            Self::Interrupted(Interrupt::Aborted) => f.write_str("aborted by the server"),
            Self::System(error) => write!(f, "{error:#}"),
        }
    }
}

impl Failure {
    /// The reason with the names to take where the server does not know it.
    fn reasons(&self) -> &'static [&'static str] {
        match self {
            Self::Script { .. } | Self::Result(_) => &["script_failure"],
            Self::Configuration(_) => &["configuration_error", "script_failure"],
            Self::ImagePull(_) => &["image_pull_failure", "runner_system_failure"],
            Self::Timeout(_) => &["job_execution_timeout", "stuck_or_timeout_failure"],
            Self::Interrupted(Interrupt::Canceled) => &["job_canceled", "unknown_failure"],
            Self::Interrupted(_) | Self::System(_) => &["runner_system_failure"],
        }
    }

    /// As the server is told, in words that it knows.
    pub(crate) fn state(&self, known: &[String]) -> FinalState {
        let names = self.reasons();
        let is_known = |name: &&&str| known.is_empty() || known.iter().any(|known| known == **name);
        let reason =
            names.iter().find(is_known).or(names.last()).copied().unwrap_or("unknown_failure");
        let exit_code = match self {
            Self::Script { exit_code } => Some(*exit_code),
            _ => None,
        };
        FinalState::Failed { reason: reason.to_owned(), exit_code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_the_server_does_not_know_becomes_one_that_it_knows() {
        let known = ["script_failure".to_owned(), "runner_system_failure".to_owned()];
        let failed =
            |reason: &str, exit_code| FinalState::Failed { reason: reason.to_owned(), exit_code };
        let script = Failure::Script { exit_code: 3 };
        assert_eq!(script.state(&known), failed("script_failure", Some(3)));
        let odd = Failure::Configuration("x".to_owned());
        assert_eq!(odd.state(&known), failed("script_failure", None));
        assert_eq!(odd.state(&[]), failed("configuration_error", None));
        let system = Failure::System(anyhow::anyhow!("x"));
        assert_eq!(system.state(&known), failed("runner_system_failure", None));
    }
}
