//! Audit events: who did what that somebody may have to answer for.

pub mod actions;
mod model;
mod store;

pub use model::{AuditEvent, AuditFilter, Entity, NewAuditEvent};
pub use store::AuditStore;
