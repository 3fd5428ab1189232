//! The API from outside: one test binary, so that it links once.

mod beginnings;
mod doors;
mod git;
mod policy;
mod rest;
mod serve;
mod support;
