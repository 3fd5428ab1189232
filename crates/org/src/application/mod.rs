//! Applications that act for people by OAuth, and the codes with which they begin.

pub mod actions;
pub mod authorization;
mod challenge;
pub mod client_token;
mod event;
pub mod exchange;
mod model;
mod redirect;
pub mod registry;
mod store;

pub use challenge::{Challenge, ChallengeMethod};
pub use client_token::ClientToken;
pub use event::{ApplicationAction, ApplicationChange};
pub use model::{Application, AuthorizationCode};
pub use redirect::is_out_of_band;
pub use store::ApplicationStore;
