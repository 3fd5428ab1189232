//! The API from outside: one test binary, so that it links once.

mod bad_input;
mod beginnings;
mod doors;
mod forms;
mod git;
mod graphql;
mod leaks;
mod mail;
mod passwords;
mod policy;
mod rest;
mod runner_program;
mod schemas;
mod secrets;
mod serve;
mod support;
mod vault;
