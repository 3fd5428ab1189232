//! Tests of the crate as others use it.

mod nodes;
mod server;
mod standby;
mod statuses;
mod world;
