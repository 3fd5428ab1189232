//! Parameters that resources of several folders take.

pub mod choices;
pub mod people;
pub mod people_named;
pub mod small_numbers;
