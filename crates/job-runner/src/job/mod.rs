//! One job from its payload to its end.

mod artifacts;
mod cache;
mod dependencies;
mod failure;
mod git;
mod layout;
mod perform;
mod script;
mod source;
mod variables;
mod work;

pub(crate) use failure::{Failure, checked};
pub(crate) use layout::Layout;
pub(crate) use perform::perform;
pub(crate) use variables::Variables;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    api::{Client, payload::Payload},
    config::Runner,
    control::{Control, Interrupt},
    process::Limits,
    trace::Trace,
};

/// A job that is being done.
pub(crate) struct Job {
    pub(crate) runner: Arc<Runner>,
    pub(crate) client: Arc<Client>,
    pub(crate) payload: Payload,
    pub(crate) layout: Layout,
    pub(crate) variables: Variables,
    pub(crate) trace: Arc<Trace>,
    pub(crate) control: Arc<Control>,
    pub(crate) timeout: Duration,
    pub(crate) deadline: Option<Instant>,
    /// Wait before the first repetition of what failed.
    pub(crate) retry: Duration,
}

impl Job {
    /// Until the end of the job's time, or until somebody cancels it.
    pub(crate) fn limits(&self) -> Limits {
        Limits { deadline: self.deadline, heeds: Interrupt::Canceled }
    }

    /// Fails when the job is to stop or its time is up.
    pub(crate) fn ensure_wanted(&self) -> Result<(), Failure> {
        if let Some(interrupt) = self.control.interrupted() {
            return Err(Failure::Interrupted(interrupt));
        }
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => Err(Failure::Timeout(None)),
            _ => Ok(()),
        }
    }
}
