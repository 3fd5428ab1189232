//! Making cadences and their iterations, and giving issues one of these.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    ids::{ProjectId, UserId},
    page::PageRequest,
};

use super::{
    Cadence, Iteration, IterationState, IterationStore as _,
    list::{IterationFilter, list, readable},
    store::{delete, delete_cadence, insert, insert_cadence, keep, save_cadence_title},
};
use crate::{
    Home,
    policy::ManageGroupIterations,
    ports::{GroupHierarchy, People},
};

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_048_576;
const NO_CADENCE: &str = "Please provide the cadence of the iteration";
const OVERLAP: &str =
    "cannot overlap with other existing Iterations within this iterations cadence";

/// An iteration as it is asked for.
#[derive(Clone, Debug)]
pub struct NewIteration {
    pub title: Option<String>,
    pub description: Option<String>,
    /// The first and the last day, as the moments at which they begin.
    pub start_date: Ts,
    pub due_date: Ts,
}

/// Makes a cadence of a group.
///
/// # Errors
/// `BadRequest` for a title that is none.
pub fn create_cadence(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    title: &str,
) -> Result<Cadence> {
    ensure_title(title)?;
    insert_cadence(tx, grant.group(), title.trim())
}

/// Gives a cadence of the group another title.
///
/// # Errors
/// `NotFound` for a cadence that is not the group's; `BadRequest` for a title that is none.
pub fn rename_cadence(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    cadence: i64,
    title: &str,
) -> Result<Cadence> {
    let cadence = tx.find_cadence(grant.group(), cadence)?.ok_or_else(Error::missing)?;
    ensure_title(title)?;
    save_cadence_title(tx, cadence.id, title.trim())
}

/// Removes a cadence of the group with its iterations; their issues stay.
///
/// # Errors
/// `NotFound` for a cadence that is not the group's.
pub fn remove_cadence(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    cadence: i64,
) -> Result<()> {
    let cadence = tx.find_cadence(grant.group(), cadence)?.ok_or_else(Error::missing)?;
    for iteration in tx.iterations_of(cadence.id)? {
        delete(tx, &iteration)?;
    }
    delete_cadence(tx, cadence.id)
}

/// Makes an iteration of a cadence of the group; of its only one where none is named.
///
/// # Errors
/// `NotFound` for a cadence that is not the group's; `BadRequest` for days in the wrong order, or of another iteration,
/// and where no cadence is named and the group has none or several.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    cadence: Option<i64>,
    new: &NewIteration,
) -> Result<Iteration> {
    let cadence = match cadence {
        Some(cadence) => tx.find_cadence(grant.group(), cadence)?.ok_or_else(Error::missing)?,
        None => only_cadence(tx, grant)?,
    };
    let others = tx.iterations_of(cadence.id)?;
    ensure_fit(new, &others)?;
    let place = place_among(new, &others);
    insert(tx, &cadence, new, place)
}

/// Changes an iteration of the group.
///
/// # Errors
/// `NotFound` for an iteration that is not the group's; `BadRequest` as for [`create`].
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    id: i64,
    change: impl FnOnce(&Iteration) -> NewIteration,
) -> Result<Iteration> {
    let old = own(tx, grant, id)?;
    let new = change(&old);
    let mut others = tx.iterations_of(old.cadence_id)?;
    others.retain(|other| other.id != old.id);
    ensure_fit(&new, &others)?;
    let place = place_among(&new, &others);
    keep(tx, &old, &new, place)
}

/// Removes an iteration of the group; its issues stay.
///
/// # Errors
/// `NotFound` for an iteration that is not the group's.
pub fn remove(tx: &mut Tx<'_>, grant: &Grant<ManageGroupIterations>, id: i64) -> Result<()> {
    let iteration = own(tx, grant, id)?;
    delete(tx, &iteration)
}

fn own(tx: &mut Tx<'_>, grant: &Grant<ManageGroupIterations>, id: i64) -> Result<Iteration> {
    let found = tx.iterations_in_order(&[id])?.pop();
    found.filter(|found| found.namespace_id == grant.group()).ok_or_else(Error::missing)
}

fn only_cadence(tx: &mut Tx<'_>, grant: &Grant<ManageGroupIterations>) -> Result<Cadence> {
    let mut cadences = tx.cadences_of(&[grant.group()])?;
    match (cadences.pop(), cadences.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(Error::bad_request().sentences(vec![NO_CADENCE.to_owned()])),
    }
}

fn ensure_title(title: &str) -> Result<()> {
    let mut faults = Faults::default();
    if title.trim().is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(title.trim()), LONGEST_TITLE);
    faults.into_result()
}

/// # Errors
/// `BadRequest` for days in the wrong order, or of another iteration.
fn ensure_fit(new: &NewIteration, others: &[Iteration]) -> Result<()> {
    let mut faults = Faults::default();
    faults.at_most("title", new.title.as_deref(), LONGEST_TITLE);
    faults.at_most("description", new.description.as_deref(), LONGEST_DESCRIPTION);
    if new.due_date <= new.start_date {
        faults.add("due_date", "must be greater than start date");
    }
    let meets =
        |other: &Iteration| new.start_date <= other.due_date && other.start_date <= new.due_date;
    if others.iter().any(meets) {
        faults.add("base", OVERLAP);
    }
    faults.into_result()
}

/// The number of an iteration in its cadence, in the order of days.
fn place_among(new: &NewIteration, others: &[Iteration]) -> i64 {
    let earlier = others.iter().filter(|other| other.start_date < new.start_date).count();
    i64::try_from(earlier).unwrap_or(i64::MAX - 1) + 1
}

/// The iteration that somebody gives an issue of a project: one of a group above it that they know.
///
/// # Errors
/// `NotFound` for any other.
pub fn usable(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    project: ProjectId,
    by: UserId,
    id: i64,
) -> Result<Iteration> {
    let groups = around.above(tx, Home::Project(project))?;
    let standing = around.standings(tx, project, &[by])?.pop().ok_or_else(Error::missing)?;
    let found = readable(tx, around, standing.actor, &[id])?.pop();
    found.filter(|found| groups.contains(&found.namespace_id)).ok_or_else(Error::missing)
}

/// The iteration under way that an issue of a project can have: of one cadence, or of any.
pub fn current(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    (project, by): (ProjectId, UserId),
    cadence: Option<i64>,
) -> Result<Option<i64>> {
    let groups = around.above(tx, Home::Project(project))?;
    let standing = around.standings(tx, project, &[by])?.pop().ok_or_else(Error::missing)?;
    let states = Some(vec![IterationState::Current]);
    let filter = IterationFilter { groups, states, ..IterationFilter::default() };
    let found = list(tx, around, standing.actor, &filter, PageRequest::default())?.items;
    let fits = |one: &Iteration| cadence.is_none_or(|cadence| one.cadence_id == cadence);
    Ok(found.into_iter().find(fits).map(|one| one.id))
}
