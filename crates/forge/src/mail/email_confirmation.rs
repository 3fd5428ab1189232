//! Asking at an address whether it belongs to who says so.

use kernel::Result;
use org::{
    email::actions::{self, SendConfirmation},
    mail::Letter,
};

use super::deliver;
use crate::Forge;

/// The link's secret is made here, where the letter is, and never stored clear. Sending twice makes the first link
/// worthless.
pub async fn send(forge: &Forge, job: SendConfirmation) -> Result<()> {
    let begun = forge.db.write(move |tx| actions::begin_confirmation(tx, job.email)).await?;
    let Some((email, user, secret)) = begun else { return Ok(()) };
    let link = forge.urls.confirm_email(&secret);
    let text = format!(
        "Hello {name},\n\n{address} was added to your account. To confirm that it is yours, open\n\n  {link}\n\n\
         within three days. If you did not add it, you need do nothing.\n",
        name = user.name,
        address = email.email,
    );
    let subject = "Confirm your email address".to_owned();
    deliver(forge, Letter { to: email.email, subject, text }).await
}
