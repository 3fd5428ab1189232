//! All runners of a configuration file, at work in one process.

use std::{sync::Arc, thread, time::Duration};

use anyhow::{Result, ensure};

pub use crate::trace::RetryIntervals;
use crate::{api::Client, config::Config, executor, hub::Hub, poll::Poller};

/// Runners that work until they are stopped.
#[derive(Debug)]
pub struct Fleet {
    hub: Arc<Hub>,
}

/// Reasons for which the runners have stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody stopped them.
    Stopped,
    /// No server knows any of them any more.
    Refused,
}

/// Stops the runners: first no new jobs are taken, and when it is called again jobs that run are ended.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<Hub>);

impl StopHandle {
    pub fn stop(&self) {
        self.0.raise();
    }
}

/// Sees how the runners get on.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Hub>);

impl Watch {
    /// Waits until so many jobs have ended since the start, and the server was told; false when the time was up before.
    pub fn wait_for_jobs(&self, number: u64, patience: Duration) -> bool {
        self.0.wait_for_jobs(number, patience)
    }
}

impl Fleet {
    /// Starts all runners.
    ///
    /// # Errors
    /// When there are none, when one's address or certificates cannot be used, or when its program of containers is missing.
    pub fn start(config: &Config, system_id: &str, pace: RetryIntervals) -> Result<Self> {
        Self::start_every(config, system_id, pace, config.interval())
    }

    /// The same with an interval between requests of any length.
    ///
    /// # Errors
    /// As for [`Fleet::start`].
    pub fn start_every(
        config: &Config,
        system_id: &str,
        pace: RetryIntervals,
        interval: Duration,
    ) -> Result<Self> {
        ensure!(
            !config.runners.is_empty(),
            "there are no runners; `forgeway runner register` adds one"
        );
        let hub = Hub::new(config.concurrent, config.runners.len());
        let mut pollers = Vec::new();
        for (place, runner) in config.runners.iter().enumerate() {
            let client = Arc::new(Client::new(runner, system_id)?);
            // Before any job runs: two runners may share a token, and with it the mark of what they make.
            executor::make_ready(runner, system_id)?;
            let runner = Arc::new(runner.clone());
            pollers.push(Poller { place, runner, client, hub: Arc::clone(&hub), interval, pace });
        }
        for poller in pollers {
            thread::spawn(move || poller.run());
        }
        Ok(Self { hub })
    }

    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.hub))
    }

    pub fn watch(&self) -> Watch {
        Watch(Arc::clone(&self.hub))
    }

    /// Waits until the runners have stopped, and their jobs with them.
    pub fn wait(self) -> StopReason {
        match self.hub.wait_for_end() {
            true => StopReason::Stopped,
            false => StopReason::Refused,
        }
    }
}
