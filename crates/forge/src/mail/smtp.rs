//! Sending letters by SMTP; without a server for it they are only mentioned in the log.

use std::{str::FromStr, time::Duration};

use kernel::{Error, Result};
use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
};
use org::mail::Letter;
use serde::{Deserialize, Serialize};

/// How long a server may take for each of its answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// The SMTP server and its credentials.
#[derive(Clone, Debug)]
pub struct MailServer {
    /// `smtp://`, or `smtps://` for TLS from the start.
    pub url: String,
    /// `Name <address>`, or the address alone.
    pub from: String,
}

/// The sender of a letter that is not from the installation itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub name: String,
    /// That of the installation, where there is none.
    pub address: Option<String>,
}

impl Sender {
    fn mailbox(self, usual: &Mailbox) -> Mailbox {
        let own = self.address.and_then(|address| Address::from_str(&address).ok());
        Mailbox::new(Some(one_line(&self.name)), own.unwrap_or_else(|| usual.email.clone()))
    }
}

/// Takes letters to the server that delivers them.
pub struct Mailer(Option<Smtp>);

struct Smtp {
    server: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl MailServer {
    /// # Errors
    /// When the address of the server or of the sender cannot be read; the text says which.
    pub fn ensure_usable(&self) -> Result<(), String> {
        Smtp::to(self).map(|_smtp| ())
    }
}

impl Smtp {
    fn to(server: &MailServer) -> Result<Self, String> {
        let from = Mailbox::from_str(&server.from)
            .map_err(|cause| format!("mail_from cannot be used: {cause}"))?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(&server.url)
            .map_err(|cause| format!("mail_url cannot be used: {cause}"))?;
        Ok(Self { server: builder.timeout(Some(PATIENCE)).build(), from })
    }
}

impl Mailer {
    pub fn open(server: Option<&MailServer>) -> Result<Self> {
        server.map(Smtp::to).transpose().map(Self).map_err(Error::internal)
    }

    /// Sends a letter; one that nobody could ever deliver is given up with a line in the log.
    pub async fn send(&self, letter: Letter) -> Result<()> {
        self.send_from(letter, None).await
    }

    /// As [`send`](Self::send), in somebody's name.
    pub async fn send_from(&self, letter: Letter, sender: Option<Sender>) -> Result<()> {
        let Some(smtp) = &self.0 else {
            tracing::info!(
                to = one_line(&letter.to),
                subject = one_line(&letter.subject),
                "a letter is not sent: no mail server is set"
            );
            return Ok(());
        };
        let from = sender.map_or_else(|| smtp.from.clone(), |sender| sender.mailbox(&smtp.from));
        let message = match written(&from, &letter) {
            Ok(message) => message,
            Err(cause) => {
                tracing::warn!(to = one_line(&letter.to), error = %cause, "a letter cannot be addressed");
                return Ok(());
            }
        };
        smtp.server.send(message).await.map_err(Error::internal)?;
        Ok(())
    }
}

fn written(from: &Mailbox, letter: &Letter) -> std::result::Result<Message, String> {
    let to = Address::from_str(&letter.to).map_err(|cause| cause.to_string())?;
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(one_line(&letter.subject))
        .header(ContentType::TEXT_PLAIN)
        .body(letter.text.clone())
        .map_err(|cause| cause.to_string())
}

/// What stands in a header must not end it.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use lettre::message::Mailbox;
    use org::mail::Letter;

    use super::{MailServer, written};

    fn letter(to: &str, subject: &str) -> Letter {
        Letter { to: to.to_owned(), subject: subject.to_owned(), text: "Hello".to_owned() }
    }

    #[test]
    fn nothing_in_a_letter_makes_a_header_of_its_own() {
        let from: Mailbox = "Forge <forge@forge.test>".parse().unwrap();

        let sent = written(&from, &letter("ada@x.test", "Hi\r\nBcc: eve@x.test")).unwrap();
        let text = String::from_utf8(sent.formatted()).unwrap();

        assert!(!text.lines().any(|line| line.starts_with("Bcc:")), "{text}");
        assert!(written(&from, &letter("ada@x.test\r\nBcc: eve@x.test", "Hi")).is_err());
        assert!(written(&from, &letter("ada@x.test>, <eve@x.test", "Hi")).is_err());
    }

    #[test]
    fn a_server_that_cannot_be_meant_is_refused() {
        let server = |url: &str, from: &str| MailServer { url: url.into(), from: from.into() };
        assert!(server("smtp://127.0.0.1:2525", "forge@x").ensure_usable().is_ok());
        assert!(server("smtps://ada:p%40ss@mail.test", "F <forge@x.test>").ensure_usable().is_ok());
        let why = server("http://mail.test", "forge@x.test").ensure_usable().unwrap_err();
        assert!(why.starts_with("mail_url"), "{why}");
        let why = server("smtp://mail.test", "forge").ensure_usable().unwrap_err();
        assert!(why.starts_with("mail_from"), "{why}");
    }
}
