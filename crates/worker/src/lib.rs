//! Background work that survives a restart: queued in the transaction that asks for it, run after its commit, tried
//! again when it fails, asked for anew where it recurs. Knows no domain.

mod job;
mod queue;
mod runner;
mod running_work;
mod schedule;

pub use job::Job;
pub use queue::{ClaimedWork, Depth, Queue};
pub use runner::Worker;
pub use running_work::RunningWork;
pub use schedule::{Recurrence, ScheduleCheck, Schedules};
