//! The letter to an invited address.

use db::{Database, Tx};
use kernel::{Result, ids::InvitationId};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::accept::rotate_secret;
use crate::{
    mail::Letter,
    member::{letters::SourceName, member_source::Lineage, rules::role},
    user::store::UserStore,
};

/// The work of writing to an invited address. The secret of its link is made here, so that no row ever holds it.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendInvitation {
    pub invitation: InvitationId,
}

impl Job for SendInvitation {
    const KIND: &'static str = "org.send_invitation";

    fn unique_key(&self) -> Option<String> {
        Some(self.invitation.to_string())
    }
}

impl SendInvitation {
    /// The letter, whose link begins with `link`; none where the invitation was taken back or accepted meanwhile.
    pub async fn letter(self, db: &Database, link: String) -> Result<Option<Letter>> {
        db.write(move |tx| invitation(tx, self.invitation, &link)).await
    }
}

fn invitation(tx: &mut Tx<'_>, id: InvitationId, link: &str) -> Result<Option<Letter>> {
    let Some((invitation, secret)) = rotate_secret(tx, id)? else { return Ok(None) };
    let lineage = Lineage::of(tx, invitation.source())?;
    let named = SourceName::of(tx, invitation.source(), &lineage)?;
    let host = match invitation.created_by {
        Some(host) => tx.find_user(host)?,
        None => None,
    };
    let invited = host.map_or_else(
        || "You are invited".to_owned(),
        |host| format!("{} has invited you", host.name),
    );
    let (word, name, role) = (named.word, named.name, role(invitation.access_level));
    let text = format!(
        "{invited} to join the {name} {word} as {role}.\n\nAccept the invitation:\n{link}/{}\n",
        secret.reveal()
    );
    let subject = format!("Invitation to join the {name} {word}");
    Ok(Some(Letter { to: invitation.email, subject, text }))
}
