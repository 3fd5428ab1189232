//! Letters to people: asked for in the transaction that is the reason for them, and sent by the gateway after it.

use db::Tx;
use kernel::Result;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

/// Plain text for one address. A letter waits in the queue as it is: what must not be stored clear, such as a token in
/// a link, is made when it is sent; see [`jobs`](crate::jobs).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// The work of sending a letter. It may arrive twice where a server is killed in the middle, and never not at all.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendLetter {
    pub letter: Letter,
}

impl Job for SendLetter {
    const KIND: &'static str = "mail.send";
}

/// Sends a letter once this transaction has committed.
pub fn send(tx: &mut Tx<'_>, letter: Letter) -> Result<()> {
    tx.enqueue(&SendLetter { letter })
}
