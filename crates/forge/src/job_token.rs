//! Access with job tokens: to the job's own project, and to projects that allow it.

use ci::{
    job::{Job, JobToken, token::running_job},
    job_token_scope::JobTokenScopeStore as _,
    policy::ChangeJobTokenScope,
};
use db::Tx;
use kernel::{
    Actor, Grant, Result, Standing,
    access::Project,
    audit::{AuditPlace, AuditRecord},
    ids::ProjectId,
};
use org::{
    access::{IdOrPath, locate_project},
    project::settings::SettingsStore as _,
    runner_places::job_homes,
    user::{User, store::UserStore as _},
};

use crate::user::standing::{PersonInProject, person_in_project};

/// The job that a token is of and that runs, with whoever it runs for. They may be blocked, which callers have to ask.
pub fn job_with_user(tx: &mut Tx<'_>, token: &JobToken) -> Result<Option<(Job, User)>> {
    let Some(job) = running_job(tx, token)? else { return Ok(None) };
    let Some(user) = job.user_id else { return Ok(None) };
    Ok(tx.find_user(user)?.map(|user| (job, user)))
}

/// Finds a project for a job of the project `from`, which acts as `actor`. Where it is not let in, it is a stranger.
///
/// # Errors
/// `NotFound` where there is no such project, or the job may not know of it.
pub fn locate_for_job(
    tx: &mut Tx<'_>,
    actor: Actor,
    from: ProjectId,
    id: &IdOrPath,
) -> Result<(Project, Standing)> {
    let (project, who) = locate_project(tx, actor, id)?;
    match is_let_in(tx, from, project.0.id)? {
        true => Ok((project, who)),
        false => locate_project(tx, Actor::ANONYMOUS.at(actor.address), id),
    }
}

/// How whoever a job runs for stands in a project, as [`person_in_project`]; as a stranger where the job is not let in.
pub fn person_for_job(
    tx: &mut Tx<'_>,
    job: &Job,
    project: &IdOrPath,
) -> Result<Option<PersonInProject>> {
    let Some(user) = job.user_id else { return Ok(None) };
    let Some(person) = person_in_project(tx, user, project)? else { return Ok(None) };
    if is_let_in(tx, job.project_id, person.facts.id)? {
        return Ok(Some(person));
    }
    match locate_project(tx, Actor::ANONYMOUS, project) {
        Ok((_, who)) => Ok(Some(PersonInProject { who, ..person })),
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether jobs of one project reach another one with their tokens.
fn is_let_in(tx: &mut Tx<'_>, from: ProjectId, to: ProjectId) -> Result<bool> {
    if from == to {
        return Ok(true);
    }
    let settings = tx.settings_by_project(&[from, to])?;
    let (Some(own), Some(theirs)) = (settings.get(&from), settings.get(&to)) else {
        return Ok(false);
    };
    // Nobody can list projects for the way out, so none is left.
    if own.ci_job_token_scope_enabled {
        return Ok(false);
    }
    if !theirs.ci_inbound_job_token_scope_enabled || tx.job_token_projects(to)?.contains(&from) {
        return Ok(true);
    }
    let listed = tx.job_token_groups(to)?;
    if listed.is_empty() {
        return Ok(false);
    }
    let homes = job_homes(tx, &[from])?;
    Ok(homes.iter().flat_map(|home| &home.groups).any(|group| listed.contains(group)))
}

/// Says whether jobs of other projects reach this one only where it lists them.
pub fn set_inbound(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeJobTokenScope>,
    enabled: bool,
) -> Result<()> {
    let mut settings = tx.project_settings(grant.project())?;
    let before = std::mem::replace(&mut settings.ci_inbound_job_token_scope_enabled, enabled);
    tx.save_settings(grant.project(), &settings)?;
    if enabled != before {
        let (name, text) = match enabled {
            true => {
                ("secure_ci_job_token_inbound_enabled", "Job tokens of other projects kept out")
            }
            false => {
                ("secure_ci_job_token_inbound_disabled", "Job tokens of other projects let in")
            }
        };
        let (project, place) = (grant.project(), AuditPlace::Project(grant.project()));
        tx.mention(AuditRecord::message(name, place, text).target(
            "Project",
            project.0,
            "job token scope",
        ));
    }
    Ok(())
}
