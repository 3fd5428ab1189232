//! Webhooks and integrations.

mod alert_deliveries;
mod archive_contents;
mod archive_failures;
mod archives;
mod bulk_imports;
mod deliveries;
mod delivery_order;
mod external_authorization;
mod group_archives;
mod group_removal;
mod hooks;
mod import_files;
mod import_items;
mod imports;
mod integration_deliveries;
mod integration_hosts;
mod integration_inheritance;
mod integrations;
mod payload_snapshots;
mod payloads;
mod receiver;
mod setting_effects;
mod settings_elsewhere;
mod source;
mod token_expiry;
mod trackers;
