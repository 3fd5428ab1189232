//! The program from outside: the real binary with folders and ports of its own.

mod backup;
mod commands;
mod large;
mod limits;
mod logging;
mod pages;
mod serving;
mod settings;
mod support;
