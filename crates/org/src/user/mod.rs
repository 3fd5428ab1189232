//! People who can sign in.

pub mod abuse;
pub mod account;
pub mod actions;
pub mod addresses;
mod common_passwords;
pub mod dormant;
pub mod event;
mod full;
mod hasher;
pub mod internal;
pub mod life;
pub mod links;
pub mod list;
pub mod list_rules;
pub mod model;
pub mod names;
pub mod password;
mod private_address;
pub mod registration;
pub mod removal;
pub mod rules;
pub mod session;
pub mod sign_up;
pub mod state;
pub mod store;
mod value_change;

pub use list::UserFilter;
pub use model::{Details, Profile, User, UserSummary};
pub use state::{State, Step};
pub use value_change::ValueChange;
