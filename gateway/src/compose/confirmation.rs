//! Asking at an address whether it belongs to who says so.

use kernel::Result;
use org::{
    email::actions::{self, SendConfirmation},
    mail::Letter,
    token::Secret,
};

use crate::app::App;

/// The link's secret is made here, where the letter is, and never stored clear. Sending twice makes the first link
/// worthless.
pub(super) async fn send(app: &App, job: SendConfirmation) -> Result<()> {
    let begun = app.db.write(move |tx| actions::begin_confirmation(tx, job.email)).await?;
    let Some((email, user, secret)) = begun else { return Ok(()) };
    let link = app.urls.at(&path(&secret));
    let text = format!(
        "Hello {name},\n\n{address} was added to your account. To confirm that it is yours, open\n\n  {link}\n\n\
         within three days. If you did not add it, you need do nothing.\n",
        name = user.name,
        address = email.email,
    );
    let subject = "Confirm your email address".to_owned();
    app.post.send(Letter { to: email.email, subject, text }).await
}

/// The page of `rest/email_confirmation.rs`.
fn path(secret: &Secret) -> String {
    format!("-/profile/emails/confirmation?confirmation_token={}", secret.reveal())
}
