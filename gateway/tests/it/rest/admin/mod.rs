//! Webhooks and integrations.

mod deliveries;
mod hooks;
mod imports;
mod integrations;
mod payloads;
mod receiver;
mod source;
mod trackers;
