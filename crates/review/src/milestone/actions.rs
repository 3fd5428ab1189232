//! Making, changing and removing milestones.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Faults, Grant, Result, Ts,
    ids::{MilestoneId, NamespaceId},
    page::{Page, PageRequest},
};

use super::{
    event::{Event, Fact},
    model::{Milestone, MilestoneFilter, MilestoneState, StateEvent},
    replacement::{Replacement, move_items},
    store::{MilestoneDetails, MilestoneStore},
};
use crate::{
    Home, ManageGrant, Milestones, ReadGrant,
    activity::{Action, record_milestone},
    policy::ManageMilestones,
    ports::{GroupHierarchy, MilestoneUsers},
};

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_048_576;
const TAKEN: &str = "already being used for another group or project milestone.";

/// Fields of a milestone to change; `None` keeps a value, or leaves it empty in a new milestone.
#[derive(Clone, Debug, Default)]
pub struct MilestoneChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub start_date: Option<Option<Ts>>,
    pub due_date: Option<Option<Ts>>,
    pub event: Option<StateEvent>,
}

/// A page of the milestones that a place shows; `filter` says which, without saying where.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<Milestones>,
    places: &impl GroupHierarchy,
    filter: MilestoneFilter,
    of_ancestors: bool,
    page: PageRequest,
) -> Result<Page<Milestone>> {
    let here = MilestoneFilter::of(grant.home());
    let mut filter = MilestoneFilter { projects: here.projects, groups: here.groups, ..filter };
    if of_ancestors {
        filter.groups.extend(places.above(tx, grant.home())?);
    }
    tx.milestones(&filter, page)
}

/// A milestone of the place itself.
pub fn read(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<Milestones>,
    id: MilestoneId,
) -> Result<Milestone> {
    tx.find_milestone(grant.home(), id)?.ok_or_else(|| Error::not_found("Milestone"))
}

/// Makes a milestone of a project or group.
///
/// # Errors
/// `BadRequest` with every fault in one text.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Milestones>,
    places: &impl GroupHierarchy,
    change: MilestoneChange,
) -> Result<Milestone> {
    let empty = MilestoneDetails {
        title: String::new(),
        description: None,
        state: MilestoneState::Active,
        start_date: None,
        due_date: None,
    };
    let home = grant.home();
    let details = changed(empty, change);
    faults(tx, places, home, &details, None)?.refuse("create")?;
    let made = tx.insert_milestone(home, &details)?;
    let user = grant.user()?;
    record_milestone(tx, &made, user, Action::Created)?;
    tx.emit(Event::MilestoneCreated(Fact::new(&made, user)))?;
    Ok(made)
}

/// Changes a milestone of a project or group itself.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Milestones>,
    places: &impl GroupHierarchy,
    id: MilestoneId,
    change: MilestoneChange,
) -> Result<Milestone> {
    let home = grant.home();
    let old = tx.find_milestone(home, id)?.ok_or_else(|| Error::not_found("Milestone"))?;
    let (title, before) = (old.title.clone(), old.state);
    let details = MilestoneDetails {
        title: old.title,
        description: old.description,
        state: old.state,
        start_date: old.start_date,
        due_date: old.due_date,
    };
    let details = changed(details, change);
    faults(tx, places, home, &details, Some(&title))?.refuse("update")?;
    let kept = tx.save_milestone(id, &details)?;
    let user = grant.user()?;
    let fact = Fact::new(&kept, user);
    let (event, action) = match (before, kept.state) {
        (MilestoneState::Active, MilestoneState::Closed) => {
            (Event::MilestoneClosed(fact), Some(Action::Closed))
        }
        (MilestoneState::Closed, MilestoneState::Active) => {
            (Event::MilestoneReopened(fact), Some(Action::Reopened))
        }
        _ => (Event::MilestoneUpdated(fact), None),
    };
    if let Some(action) = action {
        record_milestone(tx, &kept, user, action)?;
    }
    tx.emit(event)?;
    Ok(kept)
}

/// Removes a milestone, where it did not change since a moment.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Milestones>,
    id: MilestoneId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let milestone =
        tx.find_milestone(grant.home(), id)?.ok_or_else(|| Error::not_found("Milestone"))?;
    milestone.updated_at.ensure_unchanged_since(unless_newer)?;
    if !tx.delete_milestone(id)? {
        return Err(Error::not_found("Milestone"));
    }
    let user = grant.user()?;
    record_milestone(tx, &milestone, user, Action::Destroyed)?;
    tx.emit(Event::MilestoneRemoved(Fact::new(&milestone, user)))
}

/// Makes a project's milestone one of the project's group. It takes the place of the milestones of the same title that other
/// projects of the group have.
///
/// # Errors
/// `BadRequest` in personal namespaces and where the group has one of that title; `Forbidden` for those who may not
/// manage the group's milestones.
pub fn promote(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageMilestones>,
    places: &(impl GroupHierarchy + MilestoneUsers),
    id: MilestoneId,
) -> Result<Milestone> {
    let home = Home::Project(grant.project());
    let milestone = tx.find_milestone(home, id)?.ok_or_else(|| Error::not_found("Milestone"))?;
    let group = places.above(tx, home)?.first().copied();
    let Some(group) = group else {
        return Err(Error::bad_request().whole("Project does not belong to a group."));
    };
    let actor = grant.actor();
    if !actor.admin && places.level_in(tx, actor, group)? < AccessLevel::Reporter {
        return Err(Error::forbidden());
    }
    let there = MilestoneFilter::of(Home::Group(group));
    if tx.is_title_taken(&there, &milestone.title)? {
        return Err(Error::bad_request().whole(format!("Promotion failed - title: {TAKEN}")));
    }
    let lifted = tx.lift_milestone(id, Home::Group(group))?;
    absorb_others(tx, grant, places, group, &lifted)?;
    tx.emit(Event::MilestoneUpdated(Fact::new(&lifted, grant.user()?)))?;
    Ok(lifted)
}

/// Puts what is in the milestones of the same title of the group's other projects into the group's, and removes them.
fn absorb_others(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageMilestones>,
    places: &(impl GroupHierarchy + MilestoneUsers),
    group: NamespaceId,
    lifted: &Milestone,
) -> Result<()> {
    let everybody = Actor { admin: true, ..Actor::ANONYMOUS };
    let mut groups = places.below(tx, everybody, group)?;
    groups.push(group);
    let projects = places.projects_in(tx, everybody, &groups)?;
    let others = tx.milestones_called(&projects, &lifted.title)?;
    let replaced = others.iter().filter_map(|other| {
        let project = other.project_id?;
        Some(Replacement { project, old: other.id, new: lifted.id })
    });
    let replaced: Vec<Replacement> = replaced.collect();
    move_items(tx, &replaced)?;
    places.replace_milestones(tx, &replaced)?;
    for other in others {
        tx.delete_milestone(other.id)?;
        tx.emit(Event::MilestoneRemoved(Fact::new(&other, grant.user()?)))?;
    }
    Ok(())
}

fn changed(details: MilestoneDetails, change: MilestoneChange) -> MilestoneDetails {
    MilestoneDetails {
        title: change.title.map_or(details.title, |title| title.trim().to_owned()),
        description: change.description.unwrap_or(details.description),
        state: change.event.map_or(details.state, |event| details.state.after(event)),
        start_date: change.start_date.unwrap_or(details.start_date),
        due_date: change.due_date.unwrap_or(details.due_date),
    }
}

/// Validation errors of a milestone, reported in one text.
struct MilestoneFaults(Faults);

impl MilestoneFaults {
    fn refuse(self, doing: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let printed: Vec<String> = self
            .0
            .into_fields()
            .into_iter()
            .map(|(field, texts)| format!(":{field}=>{texts:?}"))
            .collect();
        let text = format!("Failed to {doing} milestone {{{}}}", printed.join(", "));
        Err(Error::bad_request().whole(text))
    }
}

fn faults(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    details: &MilestoneDetails,
    old_title: Option<&str>,
) -> Result<MilestoneFaults> {
    let mut faults = Faults::default();
    if details.title.is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(&details.title), LONGEST_TITLE);
    faults.at_most("description", details.description.as_deref(), LONGEST_DESCRIPTION);
    if old_title != Some(&details.title) {
        // A project shares its titles with the group that it is in. Groups have their own: those of one above mean
        // something else.
        let mut around = MilestoneFilter::of(home);
        if home.project().is_some() {
            around.groups.extend(places.above(tx, home)?.into_iter().next());
        }
        if tx.is_title_taken(&around, &details.title)? {
            faults.add("title", TAKEN);
        }
    }
    if let (Some(start), Some(due)) = (details.start_date, details.due_date)
        && due < start
    {
        faults.add("due_date", "must be greater than start date");
    }
    Ok(MilestoneFaults(faults))
}
