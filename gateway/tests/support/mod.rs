//! An application of one's own for each test, and people who use it.
#![allow(dead_code, unused_imports, reason = "each of the programs uses its part")]

mod answer;
mod app;
mod changes;
pub(crate) mod ci;
pub(crate) mod epics;
mod example_requests;
mod gate;
pub(crate) mod git;
mod groups;
mod items;
pub(crate) mod keys;
mod mail_sink;
mod person;
mod server;
pub(crate) mod uploads;

pub(crate) use answer::Answer;
pub(crate) use app::TestApp;
pub(crate) use example_requests::{RowRequest, declared, sample};
pub(crate) use mail_sink::MailSink;
pub(crate) use person::Person;
pub(crate) use server::Server;
