//! The product without HTTP: every use case that needs two domains, or git and a row together, as a function on
//! [`Forge`]. Handlers, quick actions, jobs and tools call the same one.
//!
//! [`Forge::open`] installs every listener, so that a tool which opens a forge has every effect that the server has.

mod access;
mod activity_feed;
pub mod alert;
pub mod archive;
pub mod artifact_sizes;
pub mod asset_proxy;
mod audit;
pub mod branch;
pub mod checksums;
pub mod commit;
pub mod deployment;
pub mod external_authorization;
pub mod files;
mod forge;
pub mod geo;
pub mod import;
mod integration;
pub mod issue;
pub mod job_token;
mod jobs;
mod keep_around;
mod label;
mod listeners;
pub mod mail;
pub mod markdown;
pub mod memory;
pub mod merge_request;
mod milestone;
mod open;
pub mod openid;
mod outbox;
pub mod performance_bar;
pub mod pipeline;
pub mod ports;
pub mod project;
pub mod purge;
pub mod push_message;
pub mod quick_actions;
pub mod references;
pub mod registry_token;
pub mod release;
pub mod runner;
pub mod security;
pub mod server_key;
pub mod settings;
pub mod sign_in;
pub mod signed_statements;
pub mod slots;
pub mod statistics;
pub mod urls;
pub mod user;
pub mod vault;
pub mod version;
pub mod webhook;
pub mod wiki;

pub use access::AccessWatch;
pub use forge::{Forge, Services};
pub use objects::{Bucket, ContentStorage, Objects};
pub use open::Settings;
pub use outbound::Relays;
