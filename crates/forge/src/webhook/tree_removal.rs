//! Groups and projects that go together: each is told of by itself, as if it went alone.

use std::collections::HashMap;

use admin::{delivery::SYSTEM_HEADER, flags::Flag};
use db::Tx;
use kernel::{Result, ids::NamespaceId};
use org::namespace::{
    event::{NamespacePath, TreeRemoval},
    store::NamespaceStore as _,
};

use super::{
    announcer::{Announcer, plain},
    audience::Audience,
    payload,
};
use crate::integration::EventTraits;

/// Tells system hooks, and the webhooks of the groups above.
pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &TreeRemoval) -> Result<()> {
    let receivers = Audience::of_instance(tx)?.system(None);
    let now = tx.now;
    let projects = fact.projects.iter().map(|project| {
        let payload = payload::project::of_tree(project, &fact.owners, now);
        plain(SYSTEM_HEADER, Flag::Projects, format!("project/{}", project.id), payload)
    });
    let groups = fact.groups.iter().map(|group| {
        let payload = payload::subgroup::group("group_destroy", group, None, now);
        plain(SYSTEM_HEADER, Flag::Subgroups, object(group), payload)
    });
    by.announce(tx, projects.chain(groups), &receivers)?;
    to_groups_above(tx, by, fact)
}

/// The groups that go hear nothing: their webhooks go with them.
fn to_groups_above(tx: &mut Tx<'_>, by: &Announcer, fact: &TreeRemoval) -> Result<()> {
    let outermost = fact.groups.last().and_then(|group| group.parent_group_id);
    let Some(above) = outermost.map(|id| tx.find_namespace(id)).transpose()?.flatten() else {
        return Ok(());
    };
    let (audience, any, now) = (Audience::of_group(tx, above.id)?, EventTraits::default(), tx.now);
    let projects = fact.projects.iter().map(|project| {
        let payload = payload::project::of_tree(project, &fact.owners, now);
        let payload = payload::project::for_groups(&payload);
        plain("Project Hook", Flag::Projects, format!("project/{}", project.id), payload)
    });
    by.announce(tx, projects, &audience.receivers(Flag::Projects, &any))?;
    let above = NamespacePath::from(&above);
    let parents: HashMap<NamespaceId, &NamespacePath> =
        fact.groups.iter().chain([&above]).map(|group| (group.group_id, group)).collect();
    let news = fact.groups.iter().filter_map(|group| {
        let parent = parents.get(&group.parent_group_id?)?;
        let payload = payload::subgroup::subgroup("subgroup_destroy", group, parent, now);
        Some(plain("Subgroup Hook", Flag::Subgroups, object(group), payload))
    });
    by.announce(tx, news, &audience.receivers(Flag::Subgroups, &any))
}

/// What happens to a group is told in order.
fn object(group: &NamespacePath) -> String {
    format!("group/{}", group.group_id)
}
