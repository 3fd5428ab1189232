//! The server itself: health, settings, texts, and what administrators see.

mod appearance;
mod audit_events;
mod broadcast_messages;
mod features;
mod health;
mod markdown;
mod settings;
mod settings_in_use;
