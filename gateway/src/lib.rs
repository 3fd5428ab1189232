//! Composes the domains into one API. The only crate that sees two of them.

pub mod app;
pub mod compose;
pub mod entities;
pub mod error;
pub mod extract;
pub mod openapi;
pub mod present;
pub mod rest;
pub mod route;
pub mod serve;
