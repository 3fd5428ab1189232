//! The vocabulary every domain shares. No I/O, no HTTP, no connection.

pub mod access;
pub mod audit;
pub mod error;
pub mod event;
mod faults;
pub mod head;
pub mod ids;
pub mod like;
pub mod page;
pub mod system_fault;
pub mod task;
pub mod text_enum;
pub mod time;
pub mod values;
pub mod words;

pub use access::{Ability, AccessLevel, Actor, Feature, Grant, Standing, Visibility};
#[doc(hidden)]
pub use diesel;
pub use error::{Error, FieldErrors, Result};
pub use faults::Faults;
#[doc(hidden)]
pub use serde;
pub use system_fault::SystemFault;
pub use text_enum::TextEnum;
pub use time::{Clock, Ts};
