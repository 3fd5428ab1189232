//! Freeze periods, in which nothing is deployed.

pub mod actions;
mod model;
mod store;

pub use model::FreezePeriod;
pub use store::FreezePeriodStore;
