//! Webhook payloads, key by key.

mod common;
pub(super) mod deployment;
pub(super) mod emoji;
pub(super) mod environment;
pub(super) mod issue;
pub(super) mod job;
pub(super) mod member;
pub(super) mod merge_request;
pub(super) mod milestone;
pub(super) mod note;
pub(super) mod pipeline;
pub(super) mod project;
pub(super) mod push;
pub(super) mod release;
pub(super) mod subgroup;
pub(super) mod token;
pub(super) mod user;
pub(super) mod vulnerability;
pub(super) mod wiki;

pub(super) use common::{ProjectContext, commit};
