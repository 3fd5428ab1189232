//! Moving refs: the one way in which a push, and every write of the API, becomes a fact.
//!
//! Objects are durable first. Then git locks the refs and checks what the writer saw; one database transaction checks
//! the rules, notes the moves in a journal and tells what follows from them; its commit is the decision; git follows.
//! A crash after the decision is finished from the journal at the next start.

pub mod actions;
pub mod examine;
pub mod head;
pub mod incoming;
pub mod journal;
pub mod model;
mod owners;
mod walk;

pub(crate) use actions::follow_late;
pub use actions::{apply, check, complete, decide, finish, follow, record, recover, unsettled};
pub use examine::examine;
pub use incoming::Incoming;
pub use journal::Journal;
pub use model::{Also, Push, RefChange, Via};
