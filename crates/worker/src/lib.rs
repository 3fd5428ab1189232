//! Background work.
