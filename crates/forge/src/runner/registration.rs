//! The project or group that a registration token belongs to, and resetting such tokens.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    access::Administrate,
    ids::{RunnerId, UserId},
};
use org::{
    runner_places::{self, RegistrationTarget},
    settings::store::SettingsStore as _,
};
use runners::{
    policy::{AdminGroupRunners, AdminProjectRunners},
    runner::{
        Attributes, NewToken, Owner, RegistrationStore as _, Runner, RunnerLimits, RunnerToken,
        actions, ensure_room, register,
    },
};
use secrets::Secret;
use sha2::{Digest as _, Sha256};

use crate::ports::runners::{Roles, TokenLifetimes};

/// How registration tokens begin, in the whole installation as in projects and groups.
const PREFIX: &str = "GR1348941";

fn digest(token: &Secret) -> String {
    hex::encode(Sha256::digest(token.reveal()))
}

/// Makes a runner of the project, group or installation whose registration token is shown.
///
/// # Errors
/// `Forbidden` where it is nobody's; `BadRequest` as [`create`].
pub fn register(
    tx: &mut Tx<'_>,
    shown: &Secret,
    attributes: Attributes,
    token: &RunnerToken,
) -> Result<Runner> {
    let settings = tx.settings()?;
    let may_register = |kind: &str| settings.valid_runner_registrars().contains(&kind);
    let owner = match runner_places::registration_place(tx, shown.reveal())? {
        Some(RegistrationTarget::Project(project)) if may_register("project") => {
            Owner::Project(project)
        }
        Some(RegistrationTarget::Group(group)) if may_register("group") => Owner::Group(group),
        Some(_) => return Err(Error::forbidden()),
        None if tx.is_instance_registration(&digest(shown))? => Owner::Instance,
        None => return Err(Error::forbidden()),
    };
    create(tx, owner, None, attributes, token)
}

/// Makes a runner of a project, group or the installation for whoever may do that.
///
/// # Errors
/// `BadRequest` where the project or group has as many as the plan lets it have.
pub fn create(
    tx: &mut Tx<'_>,
    owner: Owner,
    creator: Option<UserId>,
    attributes: Attributes,
    token: &RunnerToken,
) -> Result<Runner> {
    let limits = limits(tx)?;
    ensure_room(tx, owner, limits)?;
    register::create(tx, owner, creator, attributes, token, &TokenLifetimes)
}

/// Assigns a runner of another project to this one.
///
/// # Errors
/// As [`actions::assign`]; `BadRequest` where the project has as many as the plan lets it have.
pub fn assign(tx: &mut Tx<'_>, grant: &Grant<AdminProjectRunners>, id: RunnerId) -> Result<Runner> {
    let limits = limits(tx)?;
    actions::assign(tx, grant, &Roles, limits, id)
}

/// How many runners the plan lets projects and groups have.
fn limits(tx: &mut Tx<'_>) -> Result<RunnerLimits> {
    let plan = tx.settings()?.plan_limits;
    Ok(RunnerLimits {
        project: plan.ci_registered_project_runners,
        group: plan.ci_registered_group_runners,
    })
}

/// Gives the runner that shows its token another one.
///
/// # Errors
/// `Forbidden` where the token is nobody's, or has expired.
pub fn renew_token(tx: &mut Tx<'_>, shown: &RunnerToken) -> Result<NewToken> {
    let runner = register::authenticate(tx, shown)?;
    register::renew_token(tx, &runner, &TokenLifetimes)
}

pub fn reset_of_project(tx: &mut Tx<'_>, grant: &Grant<AdminProjectRunners>) -> Result<Secret> {
    runner_places::reset_of_project(tx, grant.project()).map(Secret::new)
}

pub fn reset_of_group(tx: &mut Tx<'_>, grant: &Grant<AdminGroupRunners>) -> Result<Secret> {
    runner_places::reset_of_group(tx, grant.group()).map(Secret::new)
}

pub fn reset_of_instance(tx: &mut Tx<'_>, _grant: &Grant<Administrate>) -> Result<Secret> {
    let token = Secret::new(format!("{PREFIX}{}", RunnerToken::registered().reveal()));
    tx.set_instance_registration(&digest(&token))?;
    Ok(token)
}
