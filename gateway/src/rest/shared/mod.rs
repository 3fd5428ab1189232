//! Parameters that resources of several folders take.

pub mod choices;
pub mod int_enums;
pub mod people;
pub mod user_filters;
