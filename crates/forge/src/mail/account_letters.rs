//! Letters with links about somebody's account. The secret of a link is made here, as the letter goes out, so that the
//! queue never holds it.

use kernel::Result;
use org::{
    mail::Letter,
    user::links::{self, ConfirmAddress, Link, Reason, SendPasswordLink},
};

use super::deliver;
use crate::Forge;

/// Where somebody asks for another confirming letter, below the server's root.
pub const CONFIRM_AGAIN: &str = "users/confirmation/new";

pub async fn confirm_address(forge: Forge, job: ConfirmAddress) -> Result<()> {
    let Some(link) = forge.db.write(move |tx| links::begin_confirmation(tx, job.user)).await?
    else {
        return Ok(());
    };
    let url =
        forge.urls.at(&format!("users/confirmation?confirmation_token={}", link.secret.reveal()));
    let text = format!(
        "Hello {},\n\nplease confirm that this is your address by opening this page within a day:\n\n{url}\n\nIf you \
         did not expect this letter, you need not do anything.\n",
        link.user.name
    );
    send(&forge, link, "Confirmation instructions", text).await
}

pub async fn send_password_link(forge: Forge, job: SendPasswordLink) -> Result<()> {
    let Some(link) = forge.db.write(move |tx| links::begin_password(tx, job.user)).await? else {
        return Ok(());
    };
    let url = forge
        .urls
        .at(&format!("users/password/edit?reset_password_token={}", link.secret.reveal()));
    let (subject, why) = match job.reason {
        Reason::NewAccount => (
            "Account was created for you",
            format!("an account was made for you. Your user name is {}.", link.user.username),
        ),
        Reason::Reset => {
            ("Reset password instructions", "somebody asked for a new password.".to_owned())
        }
    };
    let text = format!(
        "Hello {},\n\n{why} Set your password on this page within two days; it works once:\n\n{url}\n",
        link.user.name
    );
    send(&forge, link, subject, text).await
}

async fn send(forge: &Forge, link: Link, subject: &str, text: String) -> Result<()> {
    deliver(forge, Letter { to: link.address, subject: subject.to_owned(), text }).await
}
