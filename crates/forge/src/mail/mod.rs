//! Letters to people: what they say, and how they are sent.

pub mod account_letters;
pub mod email_confirmation;
pub mod smtp;
