//! Users.

pub(super) mod fields;
mod record;

pub use fields::add_fields;
pub use record::{of_id, user, user_of};
