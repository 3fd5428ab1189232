//! What the crate promises, against cases that are data.

mod config;
