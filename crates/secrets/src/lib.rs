//! Secrets that the server must be able to read again, as variables of pipelines and the tokens of webhooks: sealed in
//! rows, with a key that lies in the data folder and never in the database.

mod key_file;
mod secret;
mod vault;

pub use key_file::KEY_FILE;
pub use secret::Secret;
pub use vault::{UnsealError, Vault};
