//! People who can sign in.

pub mod actions;
pub mod addresses;
pub mod model;
pub mod password;
pub mod rules;
pub mod state;
pub mod store;

pub use model::{Details, Profile, User, UserFilter};
pub use state::{State, Step};
