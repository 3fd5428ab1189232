//! People who can sign in.

pub mod actions;
pub mod model;
pub mod password;
pub mod store;

pub use model::{State, User};
