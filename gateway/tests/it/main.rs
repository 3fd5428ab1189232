//! The API from outside: one test binary, so that it links once.

mod rest;
mod support;
