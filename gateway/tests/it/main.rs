//! The API from outside: one test binary, so that it links once.

mod beginnings;
mod git;
mod policy;
mod rest;
mod support;
