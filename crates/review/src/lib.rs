//! What people say about work and how they agree on it: issues, merge requests, and the labels and milestones of
//! projects and groups.

pub mod activity;
pub mod approval;
pub mod archive;
pub mod board;
pub mod contribution_count;
pub mod emoji;
pub mod epic;
pub mod event;
mod home;
pub mod issue;
pub mod item;
pub mod iteration;
pub mod label;
pub mod merge_request;
pub mod milestone;
pub mod note;
pub mod on_event;
pub mod policy;
pub mod ports;
pub mod quick_action;
pub mod reassign;
pub mod reference;
mod sequence;
pub mod statistics;
pub mod todo;

pub use event::Event;
pub use home::{Home, Labels, ManageGrant, Milestones, ReadGrant, ScopedCaller};
