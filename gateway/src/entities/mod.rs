//! The JSON shapes of the API.

pub mod blame;
pub mod commit;
pub mod diff;
pub mod file;
pub mod protection;
pub mod signature;
