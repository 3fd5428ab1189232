//! People who can sign in.

pub mod model;
pub mod store;

pub use model::{State, User};
