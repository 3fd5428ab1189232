//! Background work that survives a restart: queued in the transaction that asks for it, run after its commit, tried
//! again when it fails, asked for anew where it recurs. Knows no domain.

mod job;
mod queue;
mod runner;
mod schedule;
mod underway;

pub use job::Job;
pub use queue::{Depth, Queue, Taken};
pub use runner::Worker;
pub use schedule::{Recurrence, Schedules, Turn};
pub use underway::Underway;
