//! Membership as it is given: who was added where, at which level, until when; and those who ask for it, are invited, or
//! wait for approval.

pub mod actions;
pub mod awaiting;
pub mod billable;
pub mod event;
pub mod invitations;
pub(crate) mod letters;
pub mod list;
pub mod model;
mod place;
pub mod quota;
mod reach;
pub mod requests;
pub mod rules;
pub mod sign_in;
pub mod state;
pub mod store;
mod tree;

pub use event::Event;
pub use letters::{Named, SendInvitation};
pub use model::{Member, MemberFilter, Membership};
pub use place::{Place, Source};
pub use state::{State, Step};
