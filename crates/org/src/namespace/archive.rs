//! Groups and their subgroups in archives.

use std::collections::{BTreeMap, BTreeSet};

use db::{
    OneOf as _, Tx,
    archive::{Column, Relation},
    each_backend, error,
    schema::{namespaces, projects},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Faults, Result, Ts, Visibility,
    ids::{NamespaceId, UserId},
};
use serde::{Deserialize, Serialize};

use super::{
    GroupDetails, GroupSettings, Namespace,
    addresses::free_addresses,
    event::Event,
    full_path::{self, NewPath},
    model::{ProjectCreation, SubgroupCreation},
    networks, removal, rules, runners,
    store::NamespaceStore as _,
};
use crate::{
    access,
    member::{self, NewMember, Source, event::Fact, store::MemberStore as _},
    project::creation::runners_token,
    settings::store::SettingsStore as _,
    user::store::UserStore as _,
};

/// Groups of one archive.
const MOST_GROUPS: i64 = 1000;

/// Direct members. They are written by [`members`](crate::member), which keeps effective access.
pub static MEMBERS: Relation = Relation {
    name: "members",
    table: "members",
    scope: "namespace_id = $1 AND access_level > 0",
    key: &["id"],
    columns: &[
        Column::home("namespace_id"),
        Column::person("user_id"),
        Column::level("access_level", 5, 50),
        Column::moment("expires_at").optional(),
        Column::moment("created_at").optional(),
    ],
    signed: None,
};

/// A group as archives hold it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupRecord {
    pub id: i64,
    /// The group above, for all but the first one.
    #[serde(default)]
    pub parent_id: Option<i64>,
    pub name: String,
    pub path: String,
    #[serde(default)]
    pub description: Option<String>,
    pub visibility: Visibility,
    pub project_creation_level: ProjectCreation,
    pub subgroup_creation_level: SubgroupCreation,
    #[serde(default)]
    pub default_branch_protection: Option<i32>,
    pub settings: GroupSettings,
    /// The name of the picture, which is a file of the archive.
    #[serde(default)]
    pub avatar: Option<String>,
    #[serde(default)]
    pub created_at: Option<String>,
}

/// A group and those below it, each after the one that it lies in.
///
/// # Errors
/// `Unprocessable` where they are too many.
pub fn records(tx: &mut Tx<'_>, id: NamespaceId) -> Result<Vec<GroupRecord>> {
    let root = tx.namespace(id)?;
    let ranges = root.ip_ranges.clone();
    let below = format!("{}/%", db_like(&root.full_path.to_lowercase()));
    let found = namespaces::table
        .filter(namespaces::kind.eq(root.kind).and(namespaces::deleted_at.is_null()))
        .filter(namespaces::path_key.like(below).escape('!'))
        .order(namespaces::full_path)
        .limit(MOST_GROUPS);
    let found: Vec<Namespace> = each_backend!(tx, |conn| found
        .select(Namespace::as_select())
        .load(conn)
        .map_err(error("Group")))?;
    if i64::try_from(found.len()).is_ok_and(|count| count >= MOST_GROUPS) {
        return Err(Error::unprocessable().whole("The group has too many subgroups."));
    }
    let mut all: Vec<GroupRecord> = [root].iter().chain(&found).map(GroupRecord::of).collect();
    if let Some(first) = all.first_mut() {
        first.parent_id = None;
        // Of a group below another one, that of the group at the top: whoever is kept out there is kept out of the copy.
        first.settings.ip_restriction_ranges = ranges;
    }
    // A path sorts behind those that it begins with.
    all.sort_by_key(|record| found.iter().position(|group| group.id.0 == record.id));
    Ok(all)
}

/// A pattern that matches a text itself.
fn db_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

impl GroupRecord {
    fn of(group: &Namespace) -> Self {
        let details = GroupDetails::of(group);
        Self {
            id: group.id.0,
            parent_id: group.parent_id.map(|id| id.0),
            name: details.name,
            path: details.path,
            description: details.description,
            visibility: details.visibility,
            project_creation_level: details.project_creation_level,
            subgroup_creation_level: details.subgroup_creation_level,
            default_branch_protection: details.default_branch_protection,
            settings: portable(details.settings),
            avatar: details.avatar,
            created_at: Some(group.created_at.iso()),
        }
    }

    /// Looks whether there can be such a group.
    ///
    /// # Errors
    /// `BadRequest` for what groups cannot be called, and cannot be set to.
    pub fn ensure_sound(&self) -> Result<()> {
        let mut faults = Faults::default();
        // The first one is called otherwise.
        if self.parent_id.is_some() {
            faults.add_each("name", rules::name_faults(&self.name));
            faults.add_each("path", rules::inner_path_faults(&self.path));
        }
        let description = self.description.as_deref();
        faults.at_most("description", description, rules::LONGEST_DESCRIPTION);
        let protection = self.default_branch_protection;
        if protection.is_some_and(|level| !rules::BRANCH_PROTECTIONS.contains(&level)) {
            faults.add("default_branch_protection", "is not included in the list");
        }
        // What only groups at the top are set to is left out elsewhere.
        rules::settings_faults(&self.settings, true, &mut faults);
        faults.into_result()
    }

    /// As another group has it, below a group of its own.
    fn details(&self, visibility: Visibility) -> GroupDetails {
        GroupDetails {
            name: self.name.clone(),
            path: self.path.clone(),
            description: self.description.clone(),
            visibility,
            avatar: None,
            default_branch_protection: None,
            project_creation_level: self.project_creation_level,
            subgroup_creation_level: self.subgroup_creation_level,
            settings: GroupSettings {
                runners_token: Some(runners_token()),
                ..portable(self.settings.clone())
            },
        }
    }
}

/// Settings that name nothing outside of the group, and that owners set.
fn portable(settings: GroupSettings) -> GroupSettings {
    GroupSettings {
        runners_token: None,
        file_template_project_id: None,
        unique_project_download_limit_alertlist: Vec::new(),
        shared_runners_minutes_limit: None,
        extra_shared_runners_minutes_limit: None,
        ldap_cn: None,
        ldap_access: None,
        ip_restriction_ranges: None,
        ..settings
    }
}

/// Gives a new group what an archive says of it, as far as whoever imports may say that and the group above allows it; its
/// name, path and picture stay.
///
/// # Errors
/// When the database cannot be written.
pub fn restore(
    tx: &mut Tx<'_>,
    id: NamespaceId,
    importer: UserId,
    record: &GroupRecord,
) -> Result<()> {
    let group = tx.namespace(id)?;
    let visibility = visibility_below(tx, group.parent_id, record.visibility)?;
    let details = record.details(visibility);
    // Only the group at the top says from where it is reached.
    let ranges = record.settings.ip_restriction_ranges.clone();
    let settings = GroupSettings {
        runners_token: group.settings().runners_token,
        ip_restriction_ranges: ranges.filter(|_| group.parent_id.is_none()),
        ..details.settings
    };
    let may_protect = tx.settings()?.group_owners_can_manage_default_branch_protection()
        || tx.user(importer)?.admin;
    let kept = GroupDetails {
        name: group.name,
        path: group.path,
        avatar: group.avatar,
        settings,
        default_branch_protection: record.default_branch_protection.filter(|_| may_protect),
        ..details
    };
    tx.save_group(id, &kept)?;
    let saved = tx.namespace(id)?;
    match group.parent_id {
        Some(parent) => {
            let parent = tx.namespace(parent)?;
            runners::follow(tx, &saved, &parent)?;
        }
        // Groups below this one are made by now.
        None => networks::keep(tx, &saved, saved.settings().ip_restriction_ranges.as_deref())?,
    }
    if let Some(at) = record.created_at.as_deref().and_then(Ts::parse).filter(|at| *at <= tx.now) {
        let row = diesel::update(namespaces::table.find(id)).set(namespaces::created_at.eq(at));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Group")))?;
    }
    access::refresh_group(tx, id)
}

/// Says of a group that it has no picture.
///
/// # Errors
/// When the database cannot be written.
pub fn empty(tx: &mut Tx<'_>, id: NamespaceId) -> Result<()> {
    match tx.find_namespace(id)? {
        Some(group) => {
            tx.save_group(id, &GroupDetails { avatar: None, ..GroupDetails::of(&group) })
        }
        None => Ok(()),
    }
}

/// Tells of a group that was made below another one, and of its owner, as far as they are a member: nobody is told before
/// it is whole.
///
/// # Errors
/// When the database cannot be written.
pub fn announce(tx: &mut Tx<'_>, id: NamespaceId, owner: UserId) -> Result<()> {
    let group = tx.namespace(id)?;
    let source = Source::Group(id);
    if let Some(member) = tx.find_member(source, owner)? {
        let fact = Fact::new(source, owner, member.access_level, member.expires_at, Some(owner));
        tx.emit(member::Event::Added(fact))?;
    }
    tx.emit(Event::GroupCreate { group: (&group).into(), user: Some(owner) })
}

/// Whether a group is there, and all of these are below it.
///
/// # Errors
/// When the database cannot be read.
pub fn are_below(tx: &mut Tx<'_>, root: NamespaceId, groups: &[NamespaceId]) -> Result<bool> {
    let Some(root) = tx.find_namespace(root)? else { return Ok(false) };
    let (from, to) = full_path::below(&root.full_path);
    let found = namespaces::table
        .filter(namespaces::id.one_of(groups))
        .filter(namespaces::path_key.ge(&from).and(namespaces::path_key.lt(&to)))
        .filter(namespaces::deleted_at.is_null())
        .select(namespaces::id);
    let found: Vec<NamespaceId> =
        each_backend!(tx, |conn| found.load(conn).map_err(error("Group")))?;
    Ok(found.len() == groups.len())
}

/// Takes those of these groups below another one away that hold nothing but one another. Returns those that stay, as there
/// is a project in them, or a group that is not one of these. Nobody is told, as nobody was told of them.
///
/// # Errors
/// When the database cannot be written.
pub fn take_away(
    tx: &mut Tx<'_>,
    root: NamespaceId,
    groups: &BTreeSet<NamespaceId>,
) -> Result<BTreeSet<NamespaceId>> {
    access::lock_access_projection(tx)?;
    let Some(root) = tx.find_namespace(root)? else { return Ok(BTreeSet::new()) };
    let (from, to) = full_path::below(&root.full_path);
    let below = namespaces::table
        .filter(namespaces::path_key.ge(&from).and(namespaces::path_key.lt(&to)))
        .filter(namespaces::deleted_at.is_null())
        .select((namespaces::id, namespaces::parent_id));
    let below: Vec<(NamespaceId, Option<NamespaceId>)> =
        each_backend!(tx, |conn| below.load(conn).map_err(error("Group")))?;
    let parents: BTreeMap<NamespaceId, Option<NamespaceId>> = below.into_iter().collect();
    let full = projects::table
        .filter(projects::path_key.ge(&from).and(projects::path_key.lt(&to)))
        .filter(projects::deleted_at.is_null())
        .select(projects::namespace_id)
        .distinct();
    let full: Vec<NamespaceId> =
        each_backend!(tx, |conn| full.load(conn).map_err(error("Project")))?;
    let others = parents.keys().copied().filter(|id| !groups.contains(id));
    let mut kept = BTreeSet::new();
    for id in full.into_iter().chain(others) {
        let mut next = Some(id);
        while let Some(id) = next
            && let Some(parent) = parents.get(&id)
            && kept.insert(id)
        {
            next = *parent;
        }
    }
    for (id, parent) in &parents {
        let stays = |id: &NamespaceId| kept.contains(id) || !parents.contains_key(id);
        if !kept.contains(id) && parent.as_ref().is_none_or(stays) {
            removal::remove_unannounced(tx, *id)?;
        }
    }
    kept.retain(|id| groups.contains(id));
    Ok(kept)
}

/// Makes a group of an archive below another one. [`announce`] tells of it later.
///
/// # Errors
/// `BadRequest` where it would lie too deep, or the path is taken.
pub fn make_below(
    tx: &mut Tx<'_>,
    parent: NamespaceId,
    owner: UserId,
    record: &GroupRecord,
) -> Result<NamespaceId> {
    access::lock_access_projection(tx)?;
    let above = tx.namespace(parent)?;
    let full_path = NewPath::below(Some(&above), &record.name, &record.path).full_path;
    if tx.is_path_taken(&full_path)? {
        return Err(Error::invalid("path", "has already been taken"));
    }
    if rules::is_too_deep(&above.full_path, 1) {
        return Err(Error::invalid("parent_id", rules::TOO_DEEP));
    }
    let visibility = visibility_below(tx, Some(parent), record.visibility)?;
    free_addresses(tx, &full_path)?;
    let group = tx.insert_group(&record.details(visibility), Some(&above))?;
    runners::follow(tx, &group, &above)?;
    let owner = NewMember {
        source: Source::Group(group.id),
        user_id: owner,
        access_level: AccessLevel::Owner,
        expires_at: None,
        created_by: Some(owner),
    };
    tx.insert_member(&owner)?;
    access::refresh_group(tx, group.id)?;
    Ok(group.id)
}

/// Not more than the group above shows, and nothing that the installation keeps to its administrators.
fn visibility_below(
    tx: &mut Tx<'_>,
    parent: Option<NamespaceId>,
    wanted: Visibility,
) -> Result<Visibility> {
    let most = match parent {
        Some(parent) => tx.namespace(parent)?.visibility,
        None => Visibility::Public,
    };
    let wanted = wanted.min(most);
    let restricted = tx.settings()?.restricted_visibility_levels;
    Ok(if restricted.contains(&wanted) { Visibility::Private } else { wanted })
}
