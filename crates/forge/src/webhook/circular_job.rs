//! The sending of letters that integrations wrote.

use kernel::Result;

use super::letters::SendCircular;
use crate::{Forge, mail};

pub(crate) async fn send_circular(forge: Forge, job: SendCircular) -> Result<()> {
    mail::deliver_from(&forge, job.letter, job.sender).await
}
