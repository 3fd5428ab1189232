//! Making, changing and removing labels.

use db::Tx;
use kernel::{
    AccessLevel, Error, Faults, Grant, Result, Ts,
    ids::{LabelId, NamespaceId, UserId},
    page::{Page, PageRequest},
    values::LARGEST_INTEGER,
};

use super::{
    color::Color,
    event::{Event, Fact},
    model::{Label, LabelFilter, LabelName},
    replacement::{self, LabelReplacement},
    store::{LabelDetails, LabelStore, NameEdge},
};
use crate::{
    Home, Labels, ManageGrant, ReadGrant, ScopedCaller as _, policy::ManageLabels,
    ports::GroupHierarchy,
};

const LONGEST_NAME: usize = 255;
const NOT_PROMOTED: &str = "Failed to promote project label to group label";

fn no_label() -> Error {
    Error::not_found("Label")
}

/// A label as it is asked for.
#[derive(Clone, Debug)]
pub struct NewLabel {
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    /// Counts in projects alone.
    pub priority: Option<i64>,
}

/// What is to change; the rest stays.
#[derive(Clone, Debug, Default)]
pub struct LabelChange {
    pub name: Option<String>,
    pub color: Option<String>,
    pub description: Option<Option<String>>,
    pub priority: Option<Option<i64>>,
}

/// Every label that can be used in a place: its own, and those of the groups above.
pub fn usable(tx: &mut Tx<'_>, places: &impl GroupHierarchy, home: Home) -> Result<LabelFilter> {
    let mut all = LabelFilter::of(home);
    all.groups.extend(places.above(tx, home)?);
    Ok(all)
}

/// Makes a label of a project or group.
///
/// # Errors
/// `Conflict` where one that is usable there has the name; `BadRequest` for a name or colour that is none.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Labels>,
    places: &impl GroupHierarchy,
    new: &NewLabel,
) -> Result<Label> {
    let home = grant.home();
    let name = LabelName::Name(new.name.trim().to_owned());
    let usable = usable(tx, places, home)?;
    if tx.find_label(&usable, &name)?.is_some() {
        return Err(taken());
    }
    let details = checked(&new.name, &new.color, new.description.clone())?;
    ensure_priority(new.priority)?;
    let label = tx.insert_label(home, &details)?;
    if let (Some(project), Some(priority)) = (home.project(), new.priority) {
        tx.save_label_priority(project, label.id, Some(priority))?;
    }
    tx.emit(Event::LabelCreated(Fact::new(&label, grant.user()?)))?;
    Ok(label)
}

/// Changes a label of a project or group itself.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Labels>,
    places: &impl GroupHierarchy,
    name: &LabelName,
    change: LabelChange,
) -> Result<Label> {
    let home = grant.home();
    let label = own(tx, home, name)?;
    let title = change.name.unwrap_or_else(|| label.name.clone());
    let color = change.color.unwrap_or_else(|| label.color.clone());
    let description = change.description.unwrap_or_else(|| label.description.clone());
    let details = checked(&title, &color, description)?;
    ensure_priority(change.priority.flatten())?;
    if details.name != label.name {
        let usable = usable(tx, places, home)?;
        let other = tx.find_label(&usable, &LabelName::Name(details.name.clone()))?;
        if other.is_some() {
            return Err(Error::invalid("title", "has already been taken"));
        }
    }
    if let (Some(project), Some(priority)) = (home.project(), change.priority) {
        tx.save_label_priority(project, label.id, priority)?;
    }
    let kept = tx.save_label(label.id, &details)?;
    tx.emit(Event::LabelUpdated(Fact::new(&kept, grant.user()?)))?;
    Ok(kept)
}

/// Removes a label of a project or group itself, where it did not change since a moment.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<Labels>,
    name: &LabelName,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let label = own(tx, grant.home(), name)?;
    label.updated_at.ensure_unchanged_since(unless_newer)?;
    if !tx.delete_label(label.id)? {
        return Err(no_label());
    }
    tx.emit(Event::LabelRemoved(Fact::new(&label, grant.user()?)))
}

/// Makes a project's label one of the project's group, so that it is there for all projects of the group.
///
/// # Errors
/// `BadRequest` in personal namespaces and for what is a group's already; `Forbidden` for those who may not manage
/// the group's labels.
pub fn promote(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageLabels>,
    places: &impl GroupHierarchy,
    name: &LabelName,
) -> Result<Label> {
    let home = grant.home();
    let usable = usable(tx, places, home)?;
    let label = tx.find_label(&usable, name)?.ok_or_else(no_label)?;
    let group = usable.groups.first().copied();
    let (true, Some(group)) = (label.is_of(home), group) else {
        return Err(Error::bad_request().whole(NOT_PROMOTED));
    };
    if !grant.actor().admin && places.level_in(tx, grant.actor(), group)? < AccessLevel::Reporter {
        return Err(Error::forbidden());
    }
    lift(tx, places, &label, group, Grant::user(grant)?)
}

/// Moves a label up; those of the same name in the group's other projects become the same label.
fn lift(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    label: &Label,
    group: NamespaceId,
    by: UserId,
) -> Result<Label> {
    let name = LabelName::Name(label.name.clone());
    if tx.find_label(&LabelFilter::of(Home::Group(group)), &name)?.is_some() {
        return Err(Error::bad_request().whole(NOT_PROMOTED));
    }
    let everybody = kernel::Actor { admin: true, ..kernel::Actor::ANONYMOUS };
    let mut groups = places.below(tx, everybody, group)?;
    groups.push(group);
    let projects = places.projects_in(tx, everybody, &groups)?;
    let same = LabelFilter { projects, ..LabelFilter::default() };
    let lifted = tx.lift_label(label.id, Home::Group(group))?;
    let others = tx.labels_named(&same, std::slice::from_ref(&label.name))?;
    let replaced = others.iter().filter_map(|old| {
        let (project, new) = (old.project_id?, lifted.id);
        Some(LabelReplacement { project, old: old.id, new })
    });
    replacement::move_uses(tx, &Vec::from_iter(replaced))?;
    let old: Vec<LabelId> = others.iter().map(|other| other.id).collect();
    replacement::move_subscriptions(tx, &old, lifted.id)?;
    for other in &others {
        tx.delete_label(other.id)?;
        tx.emit(Event::LabelRemoved(Fact::new(other, by)))?;
    }
    tx.emit(Event::LabelUpdated(Fact::new(&lifted, by)))?;
    Ok(lifted)
}

/// Begins or ends to hear of what gets a label.
///
/// # Errors
/// `Unchanged` where it was so already.
pub fn set_subscription(tx: &mut Tx<'_>, user: UserId, label: &Label, wanted: bool) -> Result<()> {
    let changed = if wanted {
        tx.subscribe_to_label(user, label.id)?
    } else {
        tx.unsubscribe_from_label(user, label.id)?
    };
    if changed { Ok(()) } else { Err(Error::unchanged()) }
}

/// A label that can be used in a place.
pub fn read(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<Labels>,
    places: &impl GroupHierarchy,
    name: &LabelName,
) -> Result<Label> {
    let usable = usable(tx, places, grant.home())?;
    tx.find_label(&usable, name)?.ok_or_else(no_label)
}

/// Which labels a list shows beside those of the place itself.
#[derive(Clone, Debug)]
pub struct ListedLabels {
    pub of_ancestors: bool,
    /// Of groups below, and of projects: in lists of groups.
    pub of_descendants: bool,
    pub of_projects: bool,
    pub search: Option<String>,
    /// The whole name.
    pub name: Option<String>,
}

/// A page of the labels that a place shows.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<Labels>,
    places: &impl GroupHierarchy,
    listed: ListedLabels,
    page: PageRequest,
) -> Result<Page<Label>> {
    list_between(tx, grant, places, listed, (None, None), page)
}

/// As [`list`], of the labels behind the one edge and before the other.
pub fn list_between(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<Labels>,
    places: &impl GroupHierarchy,
    listed: ListedLabels,
    edges: (Option<&NameEdge>, Option<&NameEdge>),
    page: PageRequest,
) -> Result<Page<Label>> {
    let home = grant.home();
    let mut filter =
        LabelFilter { search: listed.search, name: listed.name, ..LabelFilter::of(home) };
    if listed.of_ancestors {
        filter.groups.extend(places.above(tx, home)?);
    }
    if let Home::Group(group) = home {
        let mut within = vec![group];
        if listed.of_descendants {
            within.extend(places.below(tx, grant.actor(), group)?);
            filter.groups.extend(&within[1..]);
        }
        if listed.of_projects {
            filter.projects = places.projects_in(tx, grant.actor(), &within)?;
        }
    }
    tx.labels_between(&filter, edges, page)
}

/// A label of the place itself.
fn own(tx: &mut Tx<'_>, home: Home, name: &LabelName) -> Result<Label> {
    tx.find_label(&LabelFilter::of(home), name)?.ok_or_else(no_label)
}

fn taken() -> Error {
    Error::conflict().whole("Label already exists")
}

fn checked(name: &str, color: &str, description: Option<String>) -> Result<LabelDetails> {
    let name = name.trim();
    let mut faults = Faults::default();
    if name.is_empty() {
        faults.add("title", "can't be blank");
    } else if name.contains([',', '\n', '\r']) {
        faults.add("title", "is invalid");
    }
    faults.at_most("title", Some(name), LONGEST_NAME);
    let color = Color::parse(color);
    if color.is_err() {
        faults.add("color", "must be a valid color code");
    }
    faults.at_most("description", description.as_deref(), LONGEST_DESCRIPTION);
    faults.into_result()?;
    let description = description.filter(|text| !text.is_empty());
    Ok(LabelDetails { name: name.to_owned(), color: color?.as_str().to_owned(), description })
}

/// More than anybody writes beside a label; a column is not for books.
const LONGEST_DESCRIPTION: usize = 512 * 1024;

fn ensure_priority(priority: Option<i64>) -> Result<()> {
    let mut faults = Faults::default();
    faults.range("priority", priority, 0..=LARGEST_INTEGER);
    faults.into_result()
}
