//! People, projects, repositories and reviews from outside; everything else is in `it`. They are two programs, since both cores
//! compile at the same time then.

mod git;
mod rest;
mod runner_program;
#[path = "../support/mod.rs"]
mod support;
