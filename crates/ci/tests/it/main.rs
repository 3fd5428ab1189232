//! What the crate promises, against cases that are data.

mod bombs;
mod composite;
mod config;
mod files;
mod fuzz;
mod generator;
mod include;
mod junit;
mod templates;
