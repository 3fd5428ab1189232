//! Registration and removal of runners.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId, RunnerId, UserId},
};

use super::{
    Attributes, NewToken, Runner, RunnerAccess, RunnerStore as _, RunnerToken, RunnerType,
};
use crate::{Event, ports::TokenLifetimes};

/// The owner of a new runner. The caller has checked the registration token or role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Instance,
    Group(NamespaceId),
    Project(ProjectId),
}

impl Owner {
    fn runner_type(self) -> RunnerType {
        match self {
            Self::Instance => RunnerType::Instance,
            Self::Group(_) => RunnerType::Group,
            Self::Project(_) => RunnerType::Project,
        }
    }

    fn projects(self) -> Vec<ProjectId> {
        if let Self::Project(project) = self { vec![project] } else { Vec::new() }
    }
}

/// When a token expires that a runner gets now.
fn expiry(
    tx: &mut Tx<'_>,
    lifetimes: &impl TokenLifetimes,
    runner_type: RunnerType,
    projects: &[ProjectId],
) -> Result<Option<Ts>> {
    let lifetime = lifetimes.of_runner(tx, runner_type, projects)?;
    Ok(lifetime.map(|lifetime| tx.now.plus(lifetime)))
}

/// Makes a runner.
pub fn create(
    tx: &mut Tx<'_>,
    owner: Owner,
    creator: Option<UserId>,
    attributes: Attributes,
    token: &RunnerToken,
    lifetimes: &impl TokenLifetimes,
) -> Result<Runner> {
    let token_expires_at = expiry(tx, lifetimes, owner.runner_type(), &owner.projects())?;
    let blank = Runner {
        id: RunnerId(0),
        runner_type: owner.runner_type(),
        token_digest: token.digest(),
        short_token: token.short(),
        created_by_person: creator.is_some(),
        creator_id: creator,
        group_id: if let Owner::Group(group) = owner { Some(group) } else { None },
        description: None,
        maintenance_note: None,
        active: true,
        locked: false,
        run_untagged: true,
        access_level: RunnerAccess::NotProtected,
        maximum_timeout: None,
        tags: "[]".to_owned(),
        name: None,
        version: None,
        revision: None,
        platform: None,
        architecture: None,
        ip_address: None,
        contacted_at: None,
        created_at: tx.now,
        updated_at: tx.now,
        token_expires_at,
    };
    let made = tx.insert_runner(&attributes.apply(blank)?)?;
    if let Owner::Project(project) = owner {
        tx.assign_runner(made.id, project)?;
    }
    let place = match owner {
        Owner::Instance => AuditPlace::Instance,
        Owner::Group(group) => AuditPlace::Group(group),
        Owner::Project(project) => AuditPlace::Project(project),
    };
    record(tx, &made, AuditRecord::addition("ci_runner_registered", place, RUNNER));
    Ok(made)
}

/// The runner with this token.
///
/// # Errors
/// `Forbidden` where it is nobody's, or has expired.
pub fn authenticate(tx: &mut Tx<'_>, token: &RunnerToken) -> Result<Runner> {
    let found = match token.is_plausible() {
        true => tx.find_runner_by_token(&token.digest())?,
        false => None,
    };
    found.filter(|runner| !runner.has_expired_token(tx.now)).ok_or_else(Error::forbidden)
}

/// Gives a runner another token of the same kind; the old one stops working.
pub fn renew_token(
    tx: &mut Tx<'_>,
    runner: &Runner,
    lifetimes: &impl TokenLifetimes,
) -> Result<NewToken> {
    let projects = tx.projects_of_runner(runner.id)?;
    let new = NewToken {
        token: RunnerToken::another(runner.created_by_person),
        expires_at: expiry(tx, lifetimes, runner.runner_type, &projects)?,
    };
    tx.set_runner_token(runner.id, &new)?;
    let place = place(tx, runner)?;
    record(tx, runner, AuditRecord::change("ci_runner_token_reset", place, RUNNER));
    tx.emit(Event::RunnerChanged { runner: runner.id })?;
    Ok(new)
}

/// Removes a runner.
pub fn remove(tx: &mut Tx<'_>, runner: &Runner, unmodified_since: Option<Ts>) -> Result<()> {
    runner.updated_at.ensure_unchanged_since(unmodified_since)?;
    let place = place(tx, runner)?;
    tx.delete_runner(runner.id)?;
    record(tx, runner, AuditRecord::removal("ci_runner_unregistered", place, RUNNER));
    tx.emit(Event::RunnerChanged { runner: runner.id })
}

const RUNNER: &str = "ci_runner";

/// Where audit events of a runner are found: of one for several projects, in the first.
pub(super) fn place(tx: &mut Tx<'_>, runner: &Runner) -> Result<AuditPlace> {
    Ok(match (runner.runner_type, runner.group_id) {
        (RunnerType::Group, Some(group)) => AuditPlace::Group(group),
        (RunnerType::Project, _) => {
            let projects = tx.projects_of_runner(runner.id)?;
            projects.first().map_or(AuditPlace::Instance, |project| AuditPlace::Project(*project))
        }
        (RunnerType::Instance | RunnerType::Group, _) => AuditPlace::Instance,
    })
}

/// Writes down who did it. The start of the token tells runners without a name apart.
pub(super) fn record(tx: &mut Tx<'_>, runner: &Runner, action: AuditRecord) {
    let name = runner.description.clone().unwrap_or_else(|| runner.short_token.clone());
    tx.mention(action.target("Ci::Runner", runner.id.0, name));
}
