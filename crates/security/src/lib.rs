//! Security reports and alerts of projects: vulnerabilities, their exports, and alerts.

pub mod alert;
pub mod archive;
pub mod dashboard;
pub mod event;
pub mod export;
pub mod integration;
pub mod metric_image;
pub mod policy;
pub mod ports;
pub mod report;
pub mod scan;
pub mod sealed;
pub mod vulnerability;

pub use event::Event;
