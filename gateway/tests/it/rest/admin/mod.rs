//! Webhooks and integrations.

mod deliveries;
mod hooks;
mod integrations;
mod payloads;
mod receiver;
