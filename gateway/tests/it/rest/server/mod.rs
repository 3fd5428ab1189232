//! The server itself: health, settings, texts.

mod health;
mod markdown;
mod settings;
