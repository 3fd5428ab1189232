//! The project or group that a registration token belongs to, and resetting such tokens.

use db::Tx;
use kernel::{Error, Grant, Result, access::Administrate};
use org::{
    runner_places::{self, RegistrationTarget},
    settings::store::SettingsStore as _,
};
use runners::{
    policy::{AdminGroupRunners, AdminProjectRunners},
    runner::{Attributes, Owner, RegistrationStore as _, Runner, RunnerToken, register},
};
use secrets::Secret;
use sha2::{Digest as _, Sha256};

/// How registration tokens begin, in the whole installation as in projects and groups.
const PREFIX: &str = "GR1348941";

fn digest(token: &Secret) -> String {
    hex::encode(Sha256::digest(token.reveal()))
}

/// Makes a runner of the project, group or installation whose registration token is shown.
///
/// # Errors
/// `Forbidden` where it is nobody's.
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
    register::create(tx, owner, None, attributes, token)
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
