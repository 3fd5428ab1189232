//! E-mails about memberships.

use db::Tx;
use kernel::{AccessLevel, Result, ids::NamespaceId};

use super::{Source, member_source::Lineage, rules::role, store::MemberStore};
use crate::{
    mail::{self, Letter},
    project::store::ProjectStore,
    user::User,
};

/// Whom a letter about a request goes to, at most.
const MOST_READERS: i64 = 10;

/// The name and URL of a project or group in letters.
pub struct SourceName {
    pub word: &'static str,
    pub name: String,
    pub path: String,
}

impl SourceName {
    pub(super) fn of(tx: &mut Tx<'_>, source: Source, lineage: &Lineage) -> Result<Self> {
        let word = source.word();
        match source {
            Source::Project(id) => {
                let project = tx.project(id)?;
                Ok(Self { word, name: project.full_name, path: project.full_path })
            }
            Source::Group(_) => {
                let (name, path) = lineage
                    .home()
                    .map(|group| (group.full_name.clone(), group.full_path.clone()))
                    .unwrap_or_default();
                Ok(Self { word, name, path })
            }
        }
    }
}

/// Tells somebody that they are a member now.
pub(super) fn granted(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    user: &User,
    level: AccessLevel,
) -> Result<()> {
    let named = SourceName::of(tx, lineage.source(), lineage)?;
    let (word, name, role) = (named.word, &named.name, role(level));
    notify(
        tx,
        lineage,
        user,
        format!("Access to the {name} {word} was granted"),
        format!("You have been granted {role} access to the {name} {word} ({}).", named.path),
    )
}

/// Tells those who manage members that somebody asks to become one.
pub(super) fn requested(tx: &mut Tx<'_>, lineage: &Lineage, who: &User) -> Result<()> {
    let named = SourceName::of(tx, lineage.source(), lineage)?;
    let mut readers = tx.managers(lineage.source(), MOST_READERS)?;
    if readers.is_empty()
        && let (Source::Project(_), Some(home)) = (lineage.source(), lineage.home())
    {
        readers = tx.managers(Source::Group(home.id), MOST_READERS)?;
    }
    let subject = format!("Request to join the {} {}", named.name, named.word);
    let text = format!(
        "{} (@{}) requested access to the {} {} ({}).",
        who.name, who.username, named.name, named.word, named.path
    );
    for reader in readers {
        notify(tx, lineage, &reader, subject.clone(), text.clone())?;
    }
    Ok(())
}

/// Tells somebody that they were not let in.
pub(super) fn denied(tx: &mut Tx<'_>, lineage: &Lineage, user: &User) -> Result<()> {
    let named = SourceName::of(tx, lineage.source(), lineage)?;
    let (word, name) = (named.word, &named.name);
    notify(
        tx,
        lineage,
        user,
        format!("Access to the {name} {word} was denied"),
        format!("Your request to join the {name} {word} was denied."),
    )
}

/// Tells who invited an address that it was accepted.
pub(super) fn accepted(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    host: &User,
    guest: &User,
) -> Result<()> {
    let named = SourceName::of(tx, lineage.source(), lineage)?;
    let text = format!(
        "{} (@{}) accepted your invitation to join the {} {}.",
        guest.name, guest.username, named.name, named.word
    );
    notify(tx, lineage, host, "Invitation accepted".to_owned(), text)
}

/// Tells those who look after a group that somebody took more of its projects than it lets one person have.
pub(crate) fn downloaded_too_much(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    user: &User,
    readers: &[User],
    locked_out: bool,
) -> Result<()> {
    let source = Source::Group(group);
    let lineage = Lineage::of(tx, source)?;
    let named = SourceName::of(tx, source, &lineage)?;
    let subject = format!("Many projects of the {} {} were downloaded", named.name, named.word);
    let then = match locked_out {
        true => {
            "They are locked out of it; naming them among those to whom the limit does not apply lets them in again."
        }
        false => "They still have access to it.",
    };
    let text = format!(
        "{} (@{}) downloaded more projects of the {} {} ({}) than its limit lets one person have. {then}",
        user.name, user.username, named.name, named.word, named.path
    );
    for reader in readers {
        notify(tx, &lineage, reader, subject.clone(), text.clone())?;
    }
    Ok(())
}

fn notify(
    tx: &mut Tx<'_>,
    lineage: &Lineage,
    user: &User,
    subject: String,
    text: String,
) -> Result<()> {
    if user.bot || lineage.is_silent() {
        return Ok(());
    }
    mail::send(tx, Letter { to: user.email.clone(), subject, text })
}
