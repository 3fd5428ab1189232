//! Approvals of merge requests: who has to approve, and who has.

pub mod actions;
pub mod config;
mod event;
pub mod filter;
mod head;
mod load;
mod model;
pub mod on_member_removed;
pub mod own_rules;
pub mod ports;
mod reset;
mod rule_event;
mod rule_fields;
mod rule_store;
pub mod rules;
mod state;
mod store;

pub use event::{ApprovalSubject, Event};
pub use head::{HeadSnapshot, OwnerRule, note_head};
pub use load::{refresh, refresh_project, state_of, states_of};
pub use model::{
    ANY_APPROVER, Approval, ApprovalLocks, ApprovalSettings, ReportType, Rule, RuleRow, RuleType,
};
pub use reset::{Reset, reset_on_push};
pub use rule_event::{RuleEvent, RuleFact};
pub use rule_fields::{NewRule, RuleChange};
pub use rule_store::RuleStore;
pub use state::{ApprovalState, Case, RuleState, evaluate};
pub use store::ApprovalStore;
