//! Membership as it is given: who was added where, at which level, until when; and those who ask for it, are invited, or
//! wait for approval.

pub mod actions;
pub mod billable;
pub mod event;
pub mod invitations;
pub(crate) mod letters;
pub mod list;
mod member_source;
mod membership_sources;
pub mod model;
pub mod pending_members;
pub mod quota;
pub mod related;
pub mod requests;
pub mod rules;
pub mod sign_in;
mod source;
pub mod state;
pub mod steps;
pub mod store;
mod tree;

pub use event::Event;
pub use invitations::SendInvitation;
pub use letters::SourceName;
pub use member_source::MemberSource;
pub use model::{Member, MemberFilter, Membership, NewMember, Relations};
pub use source::Source;
pub use state::{State, Step};
