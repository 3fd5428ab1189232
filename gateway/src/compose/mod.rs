//! What one domain needs from another, answered here.

pub mod subscribers;
