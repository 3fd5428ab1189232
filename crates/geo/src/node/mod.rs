//! Nodes: the places at which an installation runs.

pub mod actions;
mod change;
mod keys;
mod model;
mod store;

pub use change::NodeChange;
pub use keys::{KeyPair, SecretKey};
pub use model::{GeoNode, SelectiveSync};
pub use store::NodeStore;
