//! The runner program against a server that listens: `crates/job-runner` and everything behind it.

mod built_in;
mod ends;
mod files;
mod pipe;
mod process;
mod stories;
mod workshop;

use pipe::Pipe;
use workshop::RunnerFixture;
