//! Making cadences and their iterations, and giving issues one of these.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    ids::{ProjectId, UserId},
};

use super::{
    Cadence, Iteration, IterationStore as _,
    list::readable,
    store::{insert, insert_cadence},
};
use crate::{
    Home,
    policy::ManageGroupIterations,
    ports::{GroupHierarchy, People},
};

const LONGEST_TITLE: usize = 255;
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
    let mut faults = Faults::default();
    if title.trim().is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(title.trim()), LONGEST_TITLE);
    faults.into_result()?;
    insert_cadence(tx, grant.group(), title.trim())
}

/// Makes an iteration of a cadence of the group.
///
/// # Errors
/// `NotFound` for a cadence that is not the group's; `BadRequest` for days in the wrong order, or of another iteration.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupIterations>,
    cadence: i64,
    new: &NewIteration,
) -> Result<Iteration> {
    let cadence = tx.find_cadence(grant.group(), cadence)?.ok_or(Error::missing())?;
    let others = tx.iterations_of(cadence.id)?;
    let mut faults = Faults::default();
    faults.at_most("title", new.title.as_deref(), LONGEST_TITLE);
    if new.due_date <= new.start_date {
        faults.add("due_date", "must be greater than start date");
    }
    let meets =
        |other: &Iteration| new.start_date <= other.due_date && other.start_date <= new.due_date;
    if others.iter().any(meets) {
        faults.add("base", OVERLAP);
    }
    faults.into_result()?;
    let earlier = others.iter().filter(|other| other.start_date < new.start_date).count();
    let place = i64::try_from(earlier).unwrap_or(i64::MAX - 1) + 1;
    insert(tx, &cadence, new, place)
}

/// The iteration that somebody gives an issue of a project: one of a group above it that they know.
///
/// # Errors
/// `NotFound` for any other.
pub(crate) fn usable(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    project: ProjectId,
    by: UserId,
    id: i64,
) -> Result<Iteration> {
    let groups = around.above(tx, Home::Project(project))?;
    let standing = around.standings(tx, project, &[by])?.pop().ok_or(Error::missing())?;
    let found = readable(tx, around, standing.actor, &[id])?.pop();
    found.filter(|found| groups.contains(&found.namespace_id)).ok_or(Error::missing())
}
