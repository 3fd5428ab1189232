//! A program that shares a runner's token with others: a runner and the name of a machine.

mod model;
mod store;

pub use model::{Contact, Manager};
pub use store::ManagerStore;
