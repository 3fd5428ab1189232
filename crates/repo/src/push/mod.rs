//! Moving refs: the one way in which a push, and every write of the API, becomes a fact.
//!
//! Objects are durable first. Then the refs are locked and compared with what the writer saw; one database transaction
//! checks the rules, notes the moves in a journal and tells what follows from them; its commit is the decision; the refs
//! move. A crash after the decision is finished from the journal at the next start.

pub mod actions;
pub mod apart;
pub mod examine;
pub mod head;
pub mod incoming;
pub mod journal;
mod late;
pub mod model;
pub mod options;
mod own_move;
mod owners;
pub mod recovery;
pub mod setback;
mod survey;
mod walk;

pub(crate) use actions::try_apply;
pub use actions::{apply, check, land, record};
pub use apart::{Parts, examine_apart, land_apart, take_apart};
pub use examine::examine;
pub use incoming::Incoming;
pub use journal::Journal;
pub(crate) use late::follow_late;
pub use model::{InSameTransaction, Push, PushSource, RefChange};
pub use options::{NO_PIPELINES, PipelineOptions};
pub use own_move::{OwnMove, move_own};
pub(crate) use recovery::STALE_LOCK;
pub use recovery::{recover, settle, unsettled};
pub use setback::{LostRef, Setback};
