//! Letters to people: what they say, and how they are sent.

pub mod account_letters;
pub mod email_confirmation;
pub mod smtp;

use admin::appearance::AppearanceStore as _;
use kernel::Result;
use org::mail::Letter;

use crate::Forge;

pub use smtp::Sender;

/// Sends a letter, with what the installation says in every letter.
pub(crate) async fn deliver(forge: &Forge, letter: Letter) -> Result<()> {
    deliver_from(forge, letter, None).await
}

/// As [`deliver`], in somebody's name.
pub(crate) async fn deliver_from(
    forge: &Forge,
    letter: Letter,
    sender: Option<Sender>,
) -> Result<()> {
    let mut text = letter.text;
    let appearance = forge.db.peek(|tx| tx.appearance()).await?;
    if appearance.email_header_and_footer_enabled {
        if !appearance.header_message.is_empty() {
            text = format!("{}\n\n{text}", appearance.header_message);
        }
        if !appearance.footer_message.is_empty() {
            text = format!("{text}\n{}\n", appearance.footer_message);
        }
    }
    if let Some(more) = forge.settings().email_additional_text() {
        text = format!("{text}\n{more}\n");
    }
    forge.mailer.send_from(Letter { text, ..letter }, sender).await
}
