//! Real git clients against a server that listens.

mod client;
mod clone;
mod door;
mod forge;
mod limits;
mod push;
mod refusals;

use client::{Client, Said};
use forge::Forge;
