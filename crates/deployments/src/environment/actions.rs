//! Reading, making, changing, stopping and removing environments.

use db::{
    Tx,
    keyset::{ListWindow, WHOLE},
};
use kernel::{
    Ability, Error, Grant, Result,
    access::Project,
    ids::{EnvironmentId, ProjectId},
    page::{Page, PageRequest},
};

use super::{
    Environment, EnvironmentAttributes, EnvironmentFilter, EnvironmentFolder, EnvironmentState,
    EnvironmentStep, EnvironmentStore as _, Tier, slug,
};
use crate::{
    Event,
    policy::{ChangeEnvironments, ReadEnvironments, RemoveEnvironments},
    ports::Members,
    protection::guard::ensure_may_deploy,
};

/// The fewest letters that are looked for.
const SHORTEST_SEARCH: usize = 3;

/// A change to an environment; `None` keeps the value.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentChange {
    pub name: Option<String>,
    /// `Some(None)` takes the address away.
    pub external_url: Option<Option<String>>,
    /// `Some(None)` sets the tier that follows from the name.
    pub tier: Option<Option<Tier>>,
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadEnvironments>,
    filter: &EnvironmentFilter,
    page: PageRequest,
) -> Result<Page<Environment>> {
    list_in(tx, grant, filter, &WHOLE, page)
}

/// As [`list`], of a part of the list.
pub fn list_in(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadEnvironments>,
    filter: &EnvironmentFilter,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Page<Environment>> {
    ensure_searchable(filter)?;
    tx.environments_in(grant.project(), filter, window, page)
}

/// A page of a project's environments, those whose names begin alike taken together.
pub fn folders(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadEnvironments>,
    filter: &EnvironmentFilter,
    page: PageRequest,
) -> Result<Page<EnvironmentFolder>> {
    ensure_searchable(filter)?;
    tx.environment_folders(grant.project(), filter, page)
}

fn ensure_searchable(filter: &EnvironmentFilter) -> Result<()> {
    let is_short = |search: &String| search.chars().count() < SHORTEST_SEARCH;
    match filter.search.as_ref().is_some_and(is_short) {
        true => Err(Error::bad_request().because("Search query is less than 3 characters")),
        false => Ok(()),
    }
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadEnvironments>,
    id: EnvironmentId,
) -> Result<Environment> {
    of_project(tx, grant, id)
}

/// An environment of the project for which something was granted.
pub fn of_project<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    grant: &Grant<A>,
    id: EnvironmentId,
) -> Result<Environment> {
    tx.environment(grant.project(), id)?.ok_or_else(Error::missing)
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeEnvironments>,
    name: String,
    external_url: Option<String>,
    tier: Option<Tier>,
) -> Result<Environment> {
    let tier = tier.unwrap_or_else(|| Tier::of_name(&name));
    insert(tx, grant.project(), EnvironmentAttributes { name, external_url, tier })
}

/// Creates an environment.
///
/// # Errors
/// `BadRequest`, by field.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    project: ProjectId,
    attributes: EnvironmentAttributes,
) -> Result<Environment> {
    let slug = slug(&attributes.name);
    let mut faults = attributes.faults();
    if faults.is_empty() {
        if tx.environment_named(project, &attributes.name)?.is_some() {
            faults.add("name", "has already been taken");
        } else if tx.is_slug_taken(project, &slug)? {
            faults.add("slug", "has already been taken");
        }
    }
    faults.into_result()?;
    let made = tx.insert_environment(&Environment {
        id: EnvironmentId(0),
        project_id: project,
        name: attributes.name,
        slug,
        external_url: attributes.external_url,
        tier: attributes.tier,
        state: EnvironmentState::Available,
        auto_stop_at: None,
        auto_delete_at: None,
        created_at: tx.now,
        updated_at: tx.now,
    })?;
    announce(tx, &made)?;
    Ok(made)
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeEnvironments>,
    members: &impl Members,
    id: EnvironmentId,
    change: EnvironmentChange,
) -> Result<Environment> {
    let before = of_project(tx, grant, id)?;
    ensure_may_deploy(tx, members, grant.who(), &before)?;
    let name = change.name.unwrap_or_else(|| before.name.clone());
    let tier = match change.tier {
        None => before.tier,
        Some(tier) => tier.unwrap_or_else(|| Tier::of_name(&name)),
    };
    let external_url = change.external_url.unwrap_or_else(|| before.external_url.clone());
    let attributes = EnvironmentAttributes { name, external_url, tier };
    let mut faults = attributes.faults();
    let same = tx.environment_named(before.project_id, &attributes.name)?;
    if same.is_some_and(|other| other.id != before.id) {
        faults.add("name", "has already been taken");
    }
    faults.into_result()?;
    let EnvironmentAttributes { name, external_url, tier } = attributes;
    // Nobody links to an empty address.
    let external_url = external_url.filter(|url| !url.is_empty());
    save(tx, Environment { name, external_url, tier, ..before })
}

/// Removes an environment that was stopped, with all that was deployed to it.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<RemoveEnvironments>,
    members: &impl Members,
    id: EnvironmentId,
) -> Result<()> {
    let environment = of_project(tx, grant, id)?;
    ensure_may_deploy(tx, members, grant.who(), &environment)?;
    environment.ensure_removable()?;
    delete(tx, &environment)
}

pub(super) fn delete(tx: &mut Tx<'_>, environment: &Environment) -> Result<()> {
    tx.delete_environment(environment.id)?;
    tx.emit(Event::EnvironmentRemoved {
        project: environment.project_id,
        environment: environment.id,
        slug: environment.slug.clone(),
    })
}

/// Applies a step to an environment; one that does not apply changes nothing.
pub fn step(
    tx: &mut Tx<'_>,
    environment: Environment,
    step: EnvironmentStep,
) -> Result<Environment> {
    let Some(state) = environment.state.after(step) else { return Ok(environment) };
    let auto_stop_at = match state {
        EnvironmentState::Available => environment.auto_stop_at,
        EnvironmentState::Stopping | EnvironmentState::Stopped => None,
    };
    save(tx, Environment { state, auto_stop_at, auto_delete_at: None, ..environment })
}

/// Writes down and announces how an environment is now.
pub(crate) fn save(tx: &mut Tx<'_>, environment: Environment) -> Result<Environment> {
    let after = Environment { updated_at: tx.now, ..environment };
    tx.save_environment(&after)?;
    announce(tx, &after)?;
    Ok(after)
}

fn announce(tx: &mut Tx<'_>, environment: &Environment) -> Result<()> {
    tx.emit(Event::EnvironmentChanged {
        project: environment.project_id,
        environment: environment.id,
        state: environment.state,
    })
}
