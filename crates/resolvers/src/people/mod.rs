//! Users.

pub(super) mod fields;
mod preferences;
mod record;
mod stars;

pub use fields::add_fields;
pub use record::{of_id, user, user_of};
