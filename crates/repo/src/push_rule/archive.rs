//! The push rule of a project in archives.

use db::Tx;
use kernel::{Result, Ts, ids::ProjectId};
use serde::{Deserialize, Serialize};

use super::{
    model::{Owner, Terms},
    store::PushRuleStore as _,
};

/// A push rule as archives hold it. What it leaves to the installation stays open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PushRuleRecord {
    #[serde(flatten)]
    terms: Terms,
    created_at: String,
}

impl PushRuleRecord {
    /// Looks whether there can be such a rule.
    ///
    /// # Errors
    /// As where one is made.
    pub fn ensure_sound(&self) -> Result<()> {
        self.terms.ensure_valid()
    }
}

/// The rule of a project, where it has one.
///
/// # Errors
/// When the database cannot be read.
pub fn record(tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<PushRuleRecord>> {
    let rule = tx.find_push_rule(Owner::Project(project))?;
    Ok(rule.map(|rule| PushRuleRecord { terms: rule.terms, created_at: rule.created_at.iso() }))
}

/// Gives a project this rule, in place of the one that it began with.
///
/// # Errors
/// When the database cannot be written.
pub fn restore(tx: &mut Tx<'_>, project: ProjectId, record: &PushRuleRecord) -> Result<()> {
    let owner = Owner::Project(project);
    if let Some(first) = tx.find_push_rule(owner)? {
        tx.delete_push_rule(first.id)?;
    }
    let installation = tx.find_push_rule(Owner::Installation)?.map(|rule| rule.terms);
    let terms = record.terms.clone().left_open(installation.as_ref());
    let now = tx.now;
    let since = Ts::parse(&record.created_at).filter(|at| *at <= now).unwrap_or(now);
    tx.insert_push_rule_of(owner, &terms, since).map(drop)
}
