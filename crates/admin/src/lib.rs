//! What administrators of an installation see and decide.

pub mod appearance;
pub mod audit;
pub mod broadcast;
pub mod feature;
