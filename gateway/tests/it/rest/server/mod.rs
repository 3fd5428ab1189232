//! The server itself: health, settings, texts, and what administrators see.

mod appearance;
mod audit_events;
mod audit_of_actions;
mod audit_of_changes;
mod audit_of_nothing;
mod broadcast_messages;
mod features;
mod health;
mod markdown;
mod sessions;
mod settings;
mod settings_in_use;
mod settings_of_access;
mod settings_of_people;
mod settings_of_projects;
mod sign_up;
