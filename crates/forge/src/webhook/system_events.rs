//! Facts about members, groups, projects and accounts: told to system hooks, and of groups to their webhooks.

use std::any::Any;

use admin::flags::Flag;
use db::Tx;
use kernel::{Result, ids::NamespaceId};
use org::{
    key, member,
    namespace::{self, event::NamespacePath, store::NamespaceStore as _},
    project::{self, Project, store::ProjectStore as _},
    user::{self, store::UserStore as _},
};

use super::{
    announcer::{Announcer, plain},
    audience::Audience,
    payload::{self, ProjectContext},
    tree_removal,
};
use crate::integration::EventTraits;

const HEADER: &str = admin::delivery::SYSTEM_HEADER;

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, any: &dyn Any) -> Result<()> {
    if let Some(fact) = any.downcast_ref() {
        return of_member(tx, by, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_group(tx, by, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return tree_removal::on_event(tx, by, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_project(tx, by, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_key(tx, by, fact);
    }
    match any.downcast_ref() {
        Some(fact) => of_user(tx, by, fact),
        None => Ok(()),
    }
}

fn of_member(tx: &mut Tx<'_>, by: &Announcer, fact: &member::Event) -> Result<()> {
    let event = kernel::event::Event::kind(fact);
    if matches!(fact, member::Event::Requested(_) | member::Event::RequestDenied(_)) {
        return Ok(());
    }
    let fact = fact.fact();
    let now = tx.now;
    match (fact.project, fact.group) {
        (Some(project), _) => {
            let audience = Audience::of_instance(tx)?;
            if audience.is_empty() {
                return Ok(());
            }
            let Some(context) = ProjectContext::load(tx, &by.urls, project)? else { return Ok(()) };
            let Some(user) = tx.find_user(fact.user)? else { return Ok(()) };
            let payload = payload::member::of_project(event, &context, &user, fact, now);
            let object = format!("member/{project}/{}", user.id);
            by.tell_system(tx, &audience, plain(HEADER, Flag::Members, object, payload), None)
        }
        (None, Some(group)) => of_group_member(tx, by, event, group, fact),
        (None, None) => Ok(()),
    }
}

fn of_group_member(
    tx: &mut Tx<'_>,
    by: &Announcer,
    event: &str,
    group: NamespaceId,
    fact: &member::event::Fact,
) -> Result<()> {
    let Some(row) = tx.find_namespace(group)? else { return Ok(()) };
    let audience = Audience::of_group(tx, group)?;
    if audience.is_empty() {
        return Ok(());
    }
    let Some(user) = tx.find_user(fact.user)? else { return Ok(()) };
    let payload = payload::member::of_group(event, &row, &user, fact, tx.now);
    let object = format!("group_member/{group}/{}", user.id);
    let news = plain("Member Hook", Flag::Members, object.clone(), payload.clone());
    by.tell(tx, &audience, news, &EventTraits::default())?;
    by.tell_system(tx, &audience, plain(HEADER, Flag::Members, object, payload), None)
}

fn of_group(tx: &mut Tx<'_>, by: &Announcer, fact: &namespace::event::Event) -> Result<()> {
    use namespace::event::Event;
    let (event, group, old) = match fact {
        Event::GroupCreate { group, .. } => ("group_create", group, None),
        Event::GroupRename { group, old_path, old_full_path, .. } => {
            ("group_rename", group, Some((old_path.as_str(), old_full_path.as_str())))
        }
        // Of a group that goes, the removal of its tree tells.
        _ => return Ok(()),
    };
    let now = tx.now;
    let audience = Audience::of_instance(tx)?;
    if !audience.is_empty() {
        let payload = payload::subgroup::group(event, group, old, now);
        let object = format!("group/{}", group.group_id);
        by.tell_system(tx, &audience, plain(HEADER, Flag::Subgroups, object, payload), None)?;
    }
    match (event, group.parent_group_id) {
        ("group_create", Some(parent)) => subgroup(tx, by, group, parent),
        _ => Ok(()),
    }
}

fn subgroup(
    tx: &mut Tx<'_>,
    by: &Announcer,
    group: &NamespacePath,
    parent: NamespaceId,
) -> Result<()> {
    let Some(above) = tx.find_namespace(parent)? else { return Ok(()) };
    let audience = Audience::of_group(tx, parent)?;
    if !audience.hears(Flag::Subgroups) {
        return Ok(());
    }
    let any = EventTraits::default();
    let above = NamespacePath::from(&above);
    let payload = payload::subgroup::subgroup("subgroup_create", group, &above, tx.now);
    let object = format!("group/{}", group.group_id);
    by.tell(tx, &audience, plain("Subgroup Hook", Flag::Subgroups, object, payload), &any)
}

fn of_project(tx: &mut Tx<'_>, by: &Announcer, fact: &project::event::Event) -> Result<()> {
    use project::event::Event;
    let (event, id, old) = match fact {
        Event::ProjectCreated { project, .. } => ("project_create", project, None),
        Event::ProjectUpdated { project } => ("project_update", project, None),
        Event::ProjectMoved { project, old_path, transferred: true } => {
            ("project_transfer", project, Some(old_path.as_str()))
        }
        Event::ProjectMoved { project, old_path, .. } => {
            ("project_rename", project, Some(old_path.as_str()))
        }
        Event::ProjectDestroyed { project, .. } => ("project_destroy", project, None),
        // A renaming of its own says what becomes of the address.
        Event::ApprovalsRequired { .. }
        | Event::NetworkLeft { .. }
        | Event::ProjectDeletionMarked { .. }
        | Event::ProjectRestored { .. } => return Ok(()),
    };
    // Webhooks of groups are told of what comes and goes alone.
    let above = match fact {
        Event::ProjectCreated { namespace, .. } => Some(*namespace),
        Event::ProjectDestroyed { record, .. } => Some(record.namespace_id),
        _ => None,
    };
    let mut audience = match above {
        Some(namespace) => Audience::of_group(tx, namespace)?,
        None => Audience::of_instance(tx)?,
    };
    audience.retain_hearers(Flag::Projects);
    if audience.is_empty() {
        return Ok(());
    }
    let row = match fact {
        Event::ProjectDestroyed { record, .. } => Some(Project::clone(record)),
        _ => tx.find_project(*id)?,
    };
    let Some(row) = row else { return Ok(()) };
    let payload = payload::project::project(tx, &row, event, old)?;
    let object = format!("project/{id}");
    let for_groups = payload::project::for_groups(&payload);
    let news = plain("Project Hook", Flag::Projects, object.clone(), for_groups);
    by.tell(tx, &audience, news, &EventTraits::default())?;
    by.tell_system(tx, &audience, plain(HEADER, Flag::Projects, object, payload), None)
}

fn of_key(tx: &mut Tx<'_>, by: &Announcer, fact: &key::ssh::Event) -> Result<()> {
    let audience = Audience::of_instance(tx)?;
    if audience.is_empty() {
        return Ok(());
    }
    let event = kernel::event::Event::kind(fact);
    let (key::ssh::Event::Created { key, username } | key::ssh::Event::Removed { key, username }) =
        fact;
    let payload = payload::user::key(event, key, username, tx.now);
    let object = format!("key/{}", key.id);
    by.tell_system(tx, &audience, plain(HEADER, Flag::Members, object, payload), None)
}

fn of_user(tx: &mut Tx<'_>, by: &Announcer, fact: &user::event::Event) -> Result<()> {
    let audience = Audience::of_instance(tx)?;
    if audience.is_empty() {
        return Ok(());
    }
    let Some((_, payload)) = payload::user::user(fact, tx.now) else { return Ok(()) };
    let object = format!("user/{}", payload["user_id"]);
    by.tell_system(tx, &audience, plain(HEADER, Flag::Members, object, payload), None)
}
