//! Patterns for `LIKE`.

pub use kernel::like::{beginning, containing};
