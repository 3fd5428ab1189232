//! When nothing is to be deployed.

pub mod actions;
mod model;
mod store;

pub use model::FreezePeriod;
pub use store::FreezePeriodStore;
