//! HTTP and the command line around the forge.

pub mod alert_intake;
pub mod app;
pub mod bare_answer;
pub mod belonging;
pub mod built_in_runner;
pub mod byte_range;
pub mod commands;
pub mod config;
pub mod entities;
pub mod error;
pub mod extract;
pub mod file_headers;
pub mod first_line;
pub mod first_run;
pub mod git_http;
pub mod identity;
pub mod large_files;
pub mod limits;
pub mod listener;
pub mod log_noise;
pub mod metrics;
pub mod openapi;
pub mod present;
pub mod proxies;
pub mod rate_limit;
pub mod rest;
#[cfg(test)]
mod revision;
pub mod room;
pub mod route;
pub mod serve;
pub mod server;
pub mod stopping;
pub mod vendor;
pub mod web;

// The derives inside `kernel::text_enum!` name it.
use diesel as _;
