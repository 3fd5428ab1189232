//! The API from outside: one test binary, so that it links once.

mod git;
mod policy;
mod rest;
mod support;
