//! Making, changing and removing groups.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Standing, Ts, Visibility,
    access::SignedIn,
    ids::{NamespaceId, UserId},
};

use super::{
    GroupDetails, GroupSettings, Namespace,
    model::{ProjectCreation, SubgroupCreation},
    rules::{self, Surroundings},
    store::{NamespaceStore, NewPlace, joined},
};
use crate::{
    faults::Faults,
    member::actions::{NewMember, Source, insert},
    policy::{AdminGroup, RemoveGroup},
    settings::{Settings, store::SettingsStore},
    user::store::UserStore,
};

/// A group as it is asked for.
#[derive(Clone, Debug)]
pub struct NewGroup {
    pub name: String,
    pub path: String,
    /// The group above, with how the caller stands there.
    pub parent: Option<(Namespace, Standing)>,
    pub visibility: Option<Visibility>,
}

/// Makes a group; whoever makes it owns it.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    new: &NewGroup,
    change: impl FnOnce(&mut GroupDetails),
) -> Result<Namespace> {
    let settings = tx.settings()?;
    let user = grant.user()?;
    ensure_may_create(tx, user, grant.actor().admin, new.parent.as_ref(), &settings)?;
    let parent = new.parent.as_ref().map(|(parent, _)| parent);
    let mut details = details_of_new(new, parent, &settings);
    change(&mut details);
    let mut faults = faults_of(tx, &details, parent, None)?;
    let around = Surroundings {
        parent: parent.map(|parent| parent.visibility),
        projects: None,
        groups: None,
    };
    let visibility = visibility_faults(&details, around, grant.actor().admin, &settings);
    faults.add_each("visibility_level", visibility);
    if !faults.is_empty() {
        return Err(failed(faults));
    }
    let group = tx.insert_group(&details, parent)?;
    let owner = NewMember {
        source: Source::Group(group.id),
        user_id: user,
        access_level: AccessLevel::Owner,
        expires_at: None,
        created_by: Some(user),
    };
    insert(tx, &owner)?;
    Ok(group)
}

fn details_of_new(new: &NewGroup, parent: Option<&Namespace>, settings: &Settings) -> GroupDetails {
    let lowest = parent.map_or(Visibility::Public, |parent| parent.visibility);
    let inherited = parent.map(Namespace::settings).unwrap_or_default();
    GroupDetails {
        name: new.name.clone(),
        path: new.path.clone(),
        description: None,
        visibility: new.visibility.unwrap_or(settings.default_group_visibility.min(lowest)),
        default_branch_protection: None,
        project_creation_level: match settings.default_project_creation {
            0 => ProjectCreation::NoOne,
            1 => ProjectCreation::Maintainer,
            _ => ProjectCreation::Developer,
        },
        subgroup_creation_level: SubgroupCreation::Maintainer,
        settings: GroupSettings {
            share_with_group_lock: inherited.share_with_group_lock,
            ..GroupSettings::default()
        },
    }
}

fn ensure_may_create(
    tx: &mut Tx<'_>,
    user: UserId,
    admin: bool,
    parent: Option<&(Namespace, Standing)>,
    settings: &Settings,
) -> Result<()> {
    let may = match parent {
        Some((parent, who)) => who.is(parent.may_create_subgroups()),
        None => admin || (settings.can_create_group && tx.user(user)?.can_create_group),
    };
    if may { Ok(()) } else { Err(Error::Forbidden) }
}

/// The product's own form of this refusal: one text that holds the printed fields.
fn failed(faults: Faults) -> Error {
    let printed: Vec<String> = faults
        .into_fields()
        .into_iter()
        .map(|(field, texts)| format!(":{field}=>{texts:?}"))
        .collect();
    Error::Rejected(format!("Failed to save group {{{}}}", printed.join(", ")))
}

fn faults_of(
    tx: &mut Tx<'_>,
    details: &GroupDetails,
    parent: Option<&Namespace>,
    own: Option<&Namespace>,
) -> Result<Faults> {
    let mut faults = Faults::default();
    faults.add_each("name", rules::name_faults(&details.name));
    let path_faults = match parent {
        Some(_) => rules::inner_path_faults(&details.path),
        None => rules::top_level_path_faults(&details.path),
    };
    let full_path = joined(parent.map(|parent| parent.full_path.as_str()), "/", &details.path);
    let same = own.is_some_and(|own| own.full_path.eq_ignore_ascii_case(&full_path));
    if own.is_none_or(|own| own.path != details.path) {
        faults.add_each("path", path_faults);
    }
    if !same && tx.is_path_taken(&full_path)? {
        faults.add("path", "has already been taken");
    }
    if let Some(parent) = parent {
        if tx.is_name_taken(parent.id, &details.name, own.map(|own| own.id))? {
            faults.add("name", "has already been taken");
        }
        if parent.full_path.split('/').count() >= rules::MAX_DEPTH {
            faults.add("parent_id", "has too deep level of nesting");
        }
    }
    faults.at_most("description", details.description.as_deref(), 500);
    if details.settings.two_factor_grace_period < 0 {
        faults.add("two_factor_grace_period", "must be greater than or equal to 0");
    }
    if details.default_branch_protection.is_some_and(|level| !(0..=3).contains(&level)) {
        faults.add("default_branch_protection", "is not included in the list");
    }
    Ok(faults)
}

fn visibility_faults(
    details: &GroupDetails,
    around: Surroundings,
    admin: bool,
    settings: &Settings,
) -> Vec<String> {
    let wanted = details.visibility;
    let mut texts = rules::visibility_faults(wanted, around);
    if !admin && settings.restricted_visibility_levels.contains(&wanted) {
        texts.push(format!("{wanted} has been restricted by your GitLab administrator"));
    }
    texts
}

/// Changes a group; a new path moves everything inside.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    change: impl FnOnce(&mut GroupDetails),
) -> Result<Namespace> {
    let group = tx.namespace(grant.group())?;
    let parent = group.parent_id.map(|id| tx.namespace(id)).transpose()?;
    let mut details = GroupDetails::of(&group);
    change(&mut details);
    let mut faults = faults_of(tx, &details, parent.as_ref(), Some(&group))?;
    if details.visibility != group.visibility {
        let (projects, groups) = tx.visibility_inside(group.id)?;
        let parent = parent.as_ref().map(|parent| parent.visibility);
        let around = Surroundings { parent, projects, groups };
        let settings = tx.settings()?;
        let texts = visibility_faults(&details, around, grant.actor().admin, &settings);
        faults.add_each("visibility_level", texts);
    }
    faults.into_result()?;
    if (&details.name, &details.path) != (&group.name, &group.path) {
        let above = parent.as_ref().map(|parent| (&*parent.full_path, &*parent.full_name));
        relocate(tx, &group, above, &details.name, &details.path)?;
    }
    tx.keep_group(group.id, &details)?;
    tx.namespace(group.id)
}

/// Gives a personal namespace another name and path; refused, under `field`, where somebody has the path.
pub fn rename(
    tx: &mut Tx<'_>,
    namespace: &Namespace,
    name: &str,
    path: &str,
    field: &str,
) -> Result<()> {
    let same = namespace.full_path.eq_ignore_ascii_case(path);
    if !same && tx.is_path_taken(path)? {
        return Err(Error::invalid(field, "has already been taken"));
    }
    relocate(tx, namespace, None, name, path)
}

/// Writes the new place into a namespace and everything below it. `above` is the parent's full path and full name.
fn relocate(
    tx: &mut Tx<'_>,
    namespace: &Namespace,
    above: Option<(&str, &str)>,
    name: &str,
    path: &str,
) -> Result<()> {
    let place = NewPlace {
        name: name.to_owned(),
        path: path.to_owned(),
        full_path: joined(above.map(|above| above.0), "/", path),
        full_name: joined(above.map(|above| above.1), " / ", name),
    };
    tx.move_namespace(namespace.id, &place)?;
    let here = Some((place.full_path.as_str(), place.full_name.as_str()));
    for (id, name, path, old_path) in tx.child_projects(namespace.id)? {
        let inner = NewPlace {
            full_path: format!("{}/{path}", place.full_path),
            full_name: format!("{} / {name}", place.full_name),
            name,
            path,
        };
        tx.move_project(id, &old_path, &inner)?;
    }
    for child in tx.child_groups(namespace.id)? {
        relocate(tx, &child, here, &child.name, &child.path)?;
    }
    Ok(())
}

/// Removes a group with everything inside. It is gone for everybody at once; repositories are cleared away later.
pub fn remove(tx: &mut Tx<'_>, grant: &Grant<RemoveGroup>, unless_newer: Option<Ts>) -> Result<()> {
    let group = tx.namespace(grant.group())?;
    group.updated_at.ensure_unchanged_since(unless_newer)?;
    remove_tree(tx, group.id)
}

/// Hides a namespace, everything below it, and the projects of all of these.
pub fn remove_tree(tx: &mut Tx<'_>, id: NamespaceId) -> Result<()> {
    let Some(namespace) = tx.find_namespace(id)? else { return Ok(()) };
    for child in tx.child_groups(id)? {
        remove_tree(tx, child.id)?;
    }
    tx.hide_namespace(&namespace)
}

/// Free paths that resemble one that is taken.
pub fn suggestions(tx: &mut Tx<'_>, path: &str, parent: Option<&Namespace>) -> Result<Vec<String>> {
    const TRIED: usize = 100;
    for number in 1..=TRIED {
        let suggested = format!("{path}{number}");
        let full = joined(parent.map(|parent| parent.full_path.as_str()), "/", &suggested);
        if !tx.is_path_taken(&full)? {
            return Ok(vec![suggested]);
        }
    }
    Ok(Vec::new())
}
