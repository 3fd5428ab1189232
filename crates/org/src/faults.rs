//! Validation errors of a record's fields, collected before it is refused.

pub use kernel::Faults;
