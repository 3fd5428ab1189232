//! HTTP and the command line around the forge.

pub mod alert_intake;
pub mod app;
pub mod belonging;
pub mod built_in_runner;
pub mod byte_range;
pub mod commands;
pub mod config;
pub mod disk_space;
pub mod error;
pub mod extract;
pub mod file_headers;
pub mod first_run;
pub mod git_http;
pub mod graphql;
mod hang_up;
pub mod large_files;
pub mod limits;
pub mod listener;
pub mod log_noise;
pub mod malformed_request;
pub mod metrics;
pub mod openapi;
pub mod present;
pub mod proxies;
pub mod rate_limit;
pub mod request_line;
mod request_queue;
mod request_remainder;
pub mod rest;
#[cfg(test)]
mod revision;
pub mod route;
pub mod serve;
pub mod server;
pub mod stopping;
pub mod vendor;
pub mod web;
mod write_refusal;
mod write_timeout;

// The derives inside `kernel::text_enum!` name it.
use diesel as _;
