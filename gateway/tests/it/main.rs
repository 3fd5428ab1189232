//! The API from outside: what is about all of it, and the resources that `core` does not try.

mod bad_input;
mod beginnings;
mod doors;
mod forms;
mod graphql;
mod leaks;
mod mail;
mod passwords;
mod policy;
mod requests_at_once;
mod rest;
mod schemas;
mod secrets;
mod serve;
#[path = "../support/mod.rs"]
mod support;
mod vault;
