//! Moving refs: the one way in which a push, and every write of the API, becomes a fact.
//!
//! Objects are durable first. Then the refs are locked and compared with what the writer saw; one database transaction
//! checks the rules, notes the moves in a journal and tells what follows from them; its commit is the decision; the refs
//! move. A crash after the decision is finished from the journal at the next start.

pub mod actions;
mod decided_moves;
pub mod head;
pub mod incoming;
mod internal_move;
pub mod journal;
pub mod model;
pub mod options;
mod owners;
pub mod partial_push;
pub mod push_rule_check;
pub mod recovery;
mod ref_survey;
pub mod rejection;
mod walk;

pub(crate) use actions::try_apply;
pub use actions::{apply, check, land, record};
pub(crate) use decided_moves::follow_late;
pub use incoming::Incoming;
pub use internal_move::{InternalMove, move_own};
pub use journal::Journal;
pub use model::{InSameTransaction, Push, PushSource, RefChange};
pub use options::{NO_PIPELINES, PipelineOptions};
pub use partial_push::{Parts, check_push_rule_by_ref, land_apart, take_apart};
pub use push_rule_check::check_push_rule;
pub(crate) use recovery::STALE_LOCK;
pub use recovery::{recover, replay, unsettled};
pub use rejection::{LostRef, RefRejection};
