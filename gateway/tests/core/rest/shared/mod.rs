//! What holds for resources of every kind.

mod announced;
mod client_expectations;
mod conventions;
mod credentials;
mod document;
mod entries;
mod hidden_items;
mod lists_agree;
mod pagination;
mod quick_action_calls;
mod reading_order;
mod search_words;
mod snapshot;
mod statements;
mod web_addresses;
