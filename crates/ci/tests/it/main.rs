//! What the crate promises, against cases that are data.

mod composite;
mod config;
mod junit;
