//! The owners of the projects in a namespace, read before it is removed: afterwards nobody has a role in it.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{members, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
};

use super::Namespace;
use crate::{
    expiry::living,
    hierarchy::group_chain,
    project::Project,
    user::{State, User, store::UserStore},
};

/// Owners of one namespace.
const MOST_OWNERS: usize = 100;
/// IDs in one statement, which takes 32,766 values on SQLite.
const IDS_AT_ONCE: usize = 1_000;

/// The owners of namespaces and the creators of the projects in them.
#[derive(Clone, Debug, Default)]
pub struct TreeOwners {
    by_namespace: HashMap<NamespaceId, Vec<UserId>>,
    people: HashMap<UserId, User>,
}

impl TreeOwners {
    /// Those of some projects in a namespace. `parents` has the groups in it, each with the one that it lies in.
    pub(super) fn read(
        tx: &mut Tx<'_>,
        namespace: &Namespace,
        parents: HashMap<NamespaceId, NamespaceId>,
        projects: &[Project],
    ) -> Result<Self> {
        if projects.is_empty() {
            return Ok(Self::default());
        }
        let by_namespace = match namespace.owner_id {
            Some(owner) => HashMap::from([(namespace.id, vec![owner])]),
            None => nearest_owners(tx, namespace.id, parents, projects)?,
        };
        let creators = projects.iter().map(|project| project.creator_id);
        let ids: HashSet<UserId> =
            by_namespace.values().flatten().copied().chain(creators).collect();
        let ids: Vec<UserId> = ids.into_iter().collect();
        let mut people = HashMap::new();
        for some in ids.chunks(IDS_AT_ONCE) {
            people.extend(tx.users_by_id(some)?);
        }
        Ok(Self { by_namespace, people })
    }

    /// The person of a personal namespace, or the owners of the group or of the nearest one above that has any.
    pub fn of_namespace(&self, id: NamespaceId) -> Vec<&User> {
        let owners = self.by_namespace.get(&id).into_iter().flatten();
        owners.filter_map(|owner| self.people.get(owner)).collect()
    }

    /// An owner or creator.
    pub fn person(&self, id: UserId) -> Option<&User> {
        self.people.get(&id)
    }
}

/// The owners of each group that projects lie in, where it has none those of the nearest group above.
fn nearest_owners(
    tx: &mut Tx<'_>,
    top: NamespaceId,
    mut parents: HashMap<NamespaceId, NamespaceId>,
    projects: &[Project],
) -> Result<HashMap<NamespaceId, Vec<UserId>>> {
    let above = group_chain(tx, top)?;
    parents.extend(above.iter().copied().zip(above.iter().copied().skip(1)));
    let groups: HashSet<NamespaceId> =
        parents.keys().copied().chain(above.iter().copied()).collect();
    let groups: Vec<NamespaceId> = groups.into_iter().collect();
    let direct = direct_owners(tx, &groups)?;
    let nearest = |home: NamespaceId| -> Vec<UserId> {
        let mut line = std::iter::successors(Some(home), |group| parents.get(group).copied());
        let owners = line.find_map(|group| direct.get(&group)).into_iter().flatten();
        owners.take(MOST_OWNERS).copied().collect()
    };
    let homes: HashSet<NamespaceId> = projects.iter().map(|project| project.namespace_id).collect();
    Ok(homes.into_iter().map(|home| (home, nearest(home))).collect())
}

/// Who was made an owner of these groups themselves; groups without any are not in it.
fn direct_owners(
    tx: &mut Tx<'_>,
    groups: &[NamespaceId],
) -> Result<HashMap<NamespaceId, Vec<UserId>>> {
    let now = tx.now;
    let mut owners: HashMap<NamespaceId, Vec<UserId>> = HashMap::new();
    for some in groups.chunks(IDS_AT_ONCE) {
        let query = members::table
            .inner_join(users::table)
            .filter(members::namespace_id.one_of(some))
            .filter(members::access_level.ge(AccessLevel::Owner))
            .filter(living!(members, now))
            .filter(users::bot.eq(false))
            .filter(users::state.eq(State::Active))
            .order_by((members::access_level.desc(), members::id))
            .select((members::namespace_id, members::user_id));
        let rows: Vec<(Option<NamespaceId>, UserId)> =
            each_backend!(tx, |conn| query.load(conn).map_err(error("Member")))?;
        for (group, owner) in rows {
            if let Some(group) = group {
                owners.entry(group).or_default().push(owner);
            }
        }
    }
    Ok(owners)
}
