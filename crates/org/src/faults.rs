//! What is wrong with the fields of a record, gathered before anything is refused.

pub use kernel::Faults;
