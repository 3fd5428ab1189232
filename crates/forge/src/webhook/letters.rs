//! Deliveries that are letters: one for each address, handed to the queue of work in the transaction that ends the
//! delivery.

use admin::{delivery::HookEvent, integration::Integration};
use db::Tx;
use kernel::{
    Result,
    error::Kind,
    ids::{ProjectId, UserId},
};
use org::{mail::Letter, user::store::UserStore as _};
use repo::{
    commit::read::deadline,
    git::{FileDiff, Oid},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use worker::{Job, Queue as _};

use crate::{
    Forge,
    integration::letters::{Circular, circular, ends, recipients},
    mail::smtp::Sender,
};

/// Bytes of changes that are read for a letter.
const MOST_CHANGES: usize = 64 << 10;

/// Sends a letter in the name of whoever it tells of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SendCircular {
    pub(super) letter: Letter,
    pub(super) sender: Option<Sender>,
}

impl Job for SendCircular {
    const KIND: &'static str = "integration.mail";
}

/// Letters that wait to be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Circulars {
    to: Vec<String>,
    circular: Option<Circular>,
    author: Option<UserId>,
    /// Where people may send from with addresses of their own; nothing where they may not.
    own_domains: Vec<String>,
}

impl Circulars {
    /// What an integration writes of an event.
    pub(super) async fn of(forge: &Forge, row: &Integration, event: &HookEvent) -> Result<Self> {
        let values = row.values(&forge.vault)?;
        let payload: Value =
            serde_json::from_str(&event.payload).map_err(kernel::Error::internal)?;
        let is_on = |name: &str| values.get(name).and_then(Value::as_bool).unwrap_or_default();
        let changes = match (event.project_id, ends(&payload)) {
            (Some(project), Some(range)) if !is_on("disable_diffs") => {
                changes(forge, project, range).await?
            }
            _ => None,
        };
        let own_domains = match is_on("send_from_committer_email") {
            true => domains(forge.urls.host_name()),
            false => Vec::new(),
        };
        Ok(Self {
            to: recipients(&values),
            circular: circular(&row.slug, &payload, changes.as_deref()),
            author: payload["user_id"].as_i64().map(UserId),
            own_domains,
        })
    }

    pub(super) fn send(&self, tx: &mut Tx<'_>) -> Result<()> {
        let Some(Circular { subject, text }) = &self.circular else { return Ok(()) };
        let author = self.author.map(|id| tx.find_user(id)).transpose()?.flatten();
        let sender = author.map(|author| {
            let domain = author.email.rsplit_once('@').map(|(_, domain)| domain.to_lowercase());
            let is_own = domain.is_some_and(|domain| self.own_domains.contains(&domain));
            Sender { name: author.name, address: is_own.then_some(author.email) }
        });
        for to in &self.to {
            let (to, subject, text) = (to.clone(), subject.clone(), text.clone());
            let letter = Letter { to, subject, text };
            tx.enqueue(&SendCircular { letter, sender: sender.clone() })?;
        }
        Ok(())
    }
}

/// The server's own domain and those above it: addresses elsewhere would not be believed.
fn domains(host: &str) -> Vec<String> {
    let host = host.to_lowercase();
    let mut all = vec![host.clone()];
    let mut left = host.as_str();
    // What has no dot is a top-level domain, and nobody's own.
    while let Some((_, above)) = left.split_once('.').filter(|(_, above)| above.contains('.')) {
        all.push(above.to_owned());
        left = above;
    }
    all
}

/// What a push changed, as git prints it; nothing where that is gone.
async fn changes(
    forge: &Forge,
    project: ProjectId,
    (before, after): (&str, &str),
) -> Result<Option<String>> {
    let (Ok(before), Ok(after)) = (before.parse::<Oid>(), after.parse::<Oid>()) else {
        return Ok(None);
    };
    let (answers, end) = (forge.answers.clone(), deadline());
    let read = forge
        .git_read(project, move |reader| Ok(printed(&answers.diff(reader, before, after, end)?)));
    match read.await {
        Ok(text) => Ok(Some(text)),
        Err(gone) if gone.kind == Kind::NotFound => Ok(None),
        Err(cause) => Err(cause),
    }
}

fn printed(files: &[FileDiff]) -> String {
    let rule = "=".repeat(30);
    let mut text = String::new();
    for file in files {
        if text.len() > MOST_CHANGES {
            break;
        }
        let name = match file.is_renamed() {
            true => format!("{} -> {}", file.old_path.as_bstr(), file.new_path.as_bstr()),
            false => file.new_path.as_bstr().to_string(),
        };
        let body = match file.binary {
            true => "Binary files differ\n".to_owned(),
            false => file.text.to_string(),
        };
        text.push_str(&format!("{rule}\n{name}\n{rule}\n{body}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::domains;

    #[test]
    fn addresses_of_the_server_and_above_are_believed() {
        assert_eq!(
            domains("Forge.a.example.com"),
            ["forge.a.example.com", "a.example.com", "example.com"]
        );
        assert_eq!(domains("localhost"), ["localhost"]);
    }
}
