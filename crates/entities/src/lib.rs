//! The JSON shapes of the API, in folders by domain.

pub mod admin;
pub mod ci;
pub mod deployments;
pub mod geo;
pub mod org;
pub mod repo;
pub mod review;
pub mod runners;
pub mod security;
pub mod server;
