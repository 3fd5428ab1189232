//! The runner program against a server that speaks the protocol from memory.

mod containers;
mod files;
mod git;
mod http;
mod manage;
mod reports;
mod scripts;
mod server;
mod stopping;
mod support;
