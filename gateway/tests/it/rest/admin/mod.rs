//! Webhooks and integrations.

mod archives;
mod deliveries;
mod delivery_order;
mod group_archives;
mod hooks;
mod import_files;
mod imports;
mod integrations;
mod payloads;
mod receiver;
mod source;
mod trackers;
