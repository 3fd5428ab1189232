//! The runner program: a client of the runner protocol that takes jobs from a server, does them with a shell or in
//! containers, and reports what came of them. It knows no other part of Forgeway and talks HTTP only.

mod api;
mod clock;
mod command;
pub mod config;
mod control;
mod executor;
mod files;
pub mod fleet;
mod hub;
mod job;
mod manage;
mod poll;
mod process;
pub mod system_id;
mod trace;

pub use command::{Command, run};
