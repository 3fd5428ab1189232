//! One runner of this process: asks its server for jobs for as long as it may.

use std::{sync::Arc, thread, time::Duration};

use crate::{
    api::{Client, JobAnswer},
    config::Runner,
    control::Control,
    hub::{Hub, JobPermit},
    job::perform,
    trace::RetryIntervals,
};

const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

pub(crate) struct Poller {
    pub(crate) place: usize,
    pub(crate) runner: Arc<Runner>,
    pub(crate) client: Arc<Client>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) interval: Duration,
    pub(crate) pace: RetryIntervals,
}

impl Poller {
    /// Asks until it is time to stop, or until the server does not know the runner any more.
    pub(crate) fn run(self) {
        self.ask_for_jobs();
        self.hub.poller_ended();
    }

    fn ask_for_jobs(&self) {
        let mut cursor = None;
        let mut wait = self.pace.first_retry;
        while let Some(permit) = self.hub.acquire(self.place, self.runner.limit) {
            let answer = self.client.request_job(&mut cursor, self.hub.may_hold());
            let pause = match answer {
                Ok(JobAnswer::Job(job)) => {
                    self.start(job, permit);
                    wait = self.pace.first_retry;
                    continue;
                }
                Ok(JobAnswer::Refused) => {
                    tracing::error!(
                        runner = self.runner.name,
                        "the server does not know this runner any more; it asks for no more jobs"
                    );
                    return;
                }
                Ok(JobAnswer::Nothing | JobAnswer::Conflict) => {
                    wait = self.pace.first_retry;
                    self.interval
                }
                Ok(JobAnswer::Unwell { wait: told, message }) => {
                    tracing::warn!(runner = self.runner.name, message, "the server has no answer");
                    told.unwrap_or_else(|| longer(&mut wait)).min(LONGEST_WAIT)
                }
                Err(error) => {
                    tracing::warn!(runner = self.runner.name, %error, "the server was not reached");
                    longer(&mut wait)
                }
            };
            drop(permit);
            if !self.hub.pause(pause) {
                return;
            }
        }
    }

    fn start(&self, job: serde_json::Value, permit: JobPermit) {
        let control = Arc::new(Control::default());
        let registered = self.hub.register(&control);
        tracing::info!(runner = self.runner.name, job = job["id"].as_u64(), "a job begins");
        let (runner, client, pace) =
            (Arc::clone(&self.runner), Arc::clone(&self.client), self.pace);
        thread::spawn(move || {
            perform(&runner, &client, &control, job, pace);
            drop((permit, registered));
        });
    }
}

/// The next wait; each is twice as long as the one before.
fn longer(wait: &mut Duration) -> Duration {
    let now = *wait;
    *wait = (now * 2).min(LONGEST_WAIT);
    now
}
