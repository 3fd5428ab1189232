//! HTTP requests to URLs that users give, such as remote includes: to the public internet only, because internal services
//! often trust whoever can reach them.

mod address;
mod client;
mod connections;
mod exchange;
mod guard;
mod local;
mod post;
mod redirects;
mod upload;

pub use address::is_open;
pub use client::{Client, FetchError, FetchLimits, Relays};
pub use exchange::{AnswerHead, Exchange};
pub use guard::{AddressAllowlist, PlaceAllowlist};
pub use local::LocalRequests;
pub use post::{Answer, Post};
pub use redirects::may_have_credentials;
pub use upload::FileUpload;
