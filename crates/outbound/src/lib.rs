//! Requests that the server makes on somebody's word, as files that a configuration includes: to the open internet alone,
//! since what stands beside the server often trusts whoever can reach it.

mod address;
mod client;
mod guard;
mod local;
mod post;

pub use address::is_open;
pub use client::{Client, FetchError, FetchLimits};
pub use guard::{AddressAllowlist, PlaceAllowlist};
pub use local::LocalRequests;
pub use post::{Answer, Post};
