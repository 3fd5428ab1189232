//! Reports of people who do what they should not: a letter to whom the settings name.

use db::Tx;
use kernel::{Error, Faults, Grant, Result, access::SignedIn, ids::UserId};

use super::store::UserStore;
use crate::{
    mail::{self, Letter},
    settings::store::SettingsStore,
};

const LONGEST_MESSAGE: usize = 10_000;
/// Administrators who get the letter where the settings name no address.
const MOST_READERS: usize = 20;

kernel::text_enum! {
    /// The category of an abuse report.
    pub enum AbuseCategory {
        Spam = "spam",
        Offensive = "offensive",
        Phishing = "phishing",
        Crypto = "crypto",
        Credentials = "credentials",
        Copyright = "copyright",
        Malware = "malware",
        Other = "other",
    }
}

/// A report about a user.
#[derive(Clone, Debug)]
pub struct AbuseReport {
    pub user: UserId,
    pub category: AbuseCategory,
    pub message: String,
}

/// Sends a report to the address for reports, or else to the administrators.
///
/// # Errors
/// `NotFound` where nobody is reported; `BadRequest` for a report without a message, and of oneself.
pub fn report(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, report: &AbuseReport) -> Result<()> {
    let reporter = tx.user(grant.actor().user()?)?;
    let accused = tx.find_user(report.user)?.ok_or_else(|| Error::not_found("User"))?;
    let mut faults = Faults::default();
    if report.message.trim().is_empty() {
        faults.add("message", "can't be blank");
    }
    faults.at_most("message", Some(&report.message), LONGEST_MESSAGE);
    if accused.id == reporter.id {
        faults.add("user", "cannot be reported by the same user");
    }
    faults.into_result()?;
    let text = format!(
        "{} (@{}) reported {} (@{}) for abuse: {}.\n\n{}\n",
        reporter.name,
        reporter.username,
        accused.name,
        accused.username,
        report.category,
        report.message
    );
    for to in readers(tx)? {
        let subject = format!("Abuse report about @{}", accused.username);
        mail::send(tx, Letter { to, subject, text: text.clone() })?;
    }
    Ok(())
}

fn readers(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    if let Some(address) = tx.settings()?.abuse_notification_email() {
        return Ok(vec![address.to_owned()]);
    }
    let administrators = tx.administrators()?;
    let first = administrators.get(..MOST_READERS).unwrap_or(&administrators);
    let mut found: Vec<_> = tx.users_by_id(first)?.into_values().collect();
    found.sort_by_key(|user| user.id);
    Ok(found.into_iter().map(|user| user.email).collect())
}
