//! From a signal to a quiet end.

use std::io;

use actix_web::dev::ServerHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{app::App, built_in_runner::BuiltInRunner};

/// The signals that end the program.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Says "not ready" at the first signal, so that no more requests are sent here; lets jobs of the built-in runner end, at
/// once at a second signal; and then lets those requests end that are under way.
pub async fn on_signal(
    mut signals: Signals,
    app: App,
    server: ServerHandle,
    runner: Option<BuiltInRunner>,
) {
    signals.next().await;
    tracing::info!("stopping");
    app.set_ready(false);
    if let Some(runner) = runner {
        // It tells this server how its jobs end.
        app.built_in.rest();
        runner.stop(signals.next()).await;
    }
    // Runners that wait for jobs would hold up the end.
    app.bell.mailbox.close();
    app.followers.close();
    app.subscribers.close();
    server.stop(true).await;
}
