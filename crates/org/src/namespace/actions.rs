//! Making and changing groups.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Standing, Visibility,
    access::SignedIn,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, UserId},
};
use serde::Serialize;

use super::{
    GroupDetails, GroupSettings, Namespace,
    addresses::{free_addresses, relocate},
    downloads,
    event::Event,
    full_path::{NewPath, joined},
    model::{ProjectCreation, SubgroupCreation},
    rules::{self, VisibilityLimits},
    runners,
    store::NamespaceStore,
};
pub use super::{addresses::rename, removal::remove_tree};
use crate::{
    access,
    audited::{ValueChange, value_changes},
    faults::Faults,
    member::{NewMember, Source, steps::insert},
    policy::AdminGroup,
    project::{creation::runners_token, store::ProjectStore},
    settings::{Settings, store::SettingsStore},
    user::store::UserStore,
};

/// A group as it is asked for.
#[derive(Clone, Debug)]
pub struct NewGroup {
    pub name: String,
    pub path: String,
    /// The group above, with how the caller stands there.
    pub parent: Option<(NamespaceId, Standing)>,
    pub visibility: Option<Visibility>,
    /// What speaks against the picture that came with it.
    pub picture_fault: Option<&'static str>,
}

/// Makes a group; whoever makes it owns it.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    new: &NewGroup,
    change: impl FnOnce(&mut GroupDetails),
) -> Result<Namespace> {
    access::lock_access_projection(tx)?;
    let settings = tx.settings()?;
    let user = grant.user()?;
    let parent = read(tx, new.parent)?;
    ensure_may_create(tx, user, grant.actor().admin, parent.as_ref(), &settings)?;
    let parent = parent.as_ref().map(|(parent, _)| parent);
    let mut details = details_of_new(new, parent, &settings);
    change(&mut details);
    ensure_own_limits(grant.actor().admin, &GroupSettings::default(), &details.settings)?;
    let mut faults = faults_of(tx, &details, parent, None)?;
    if let Some(text) = new.picture_fault {
        faults.add("avatar", text);
    }
    let around = VisibilityLimits {
        parent: parent.map(|parent| parent.visibility),
        projects: None,
        groups: None,
    };
    let visibility = visibility_faults(&details, around, grant.actor().admin, &settings);
    faults.add_each("visibility_level", visibility);
    if !faults.is_empty() {
        return Err(failed(faults));
    }
    free_addresses(tx, &NewPath::below(parent, &details.name, &details.path).full_path)?;
    let group = tx.insert_group(&details, parent)?;
    let owner = NewMember {
        source: Source::Group(group.id),
        user_id: user,
        access_level: AccessLevel::Owner,
        expires_at: None,
        created_by: Some(user),
    };
    insert(tx, &owner)?;
    // What those above have in it, too.
    access::refresh_group(tx, group.id)?;
    tx.emit(Event::GroupCreate { group: (&group).into(), user: Some(user) })?;
    Ok(group)
}

/// Refuses a new group below which so many levels of groups are to come, where the last of them would lie too deep.
///
/// # Errors
/// `BadRequest`, as where a group is made that lies too deep itself.
pub fn ensure_room_below(group: &Namespace, levels: usize) -> Result<()> {
    if !rules::is_too_deep(&group.full_path, levels) {
        return Ok(());
    }
    let mut faults = Faults::default();
    faults.add("parent_id", rules::TOO_DEEP);
    Err(failed(faults))
}

/// How much the runners of the installation do for a group is for administrators to say.
fn ensure_own_limits(admin: bool, old: &GroupSettings, new: &GroupSettings) -> Result<()> {
    let limits = |settings: &GroupSettings| {
        (settings.shared_runners_minutes_limit, settings.extra_shared_runners_minutes_limit)
    };
    if admin || limits(old) == limits(new) { Ok(()) } else { Err(Error::forbidden()) }
}

fn details_of_new(new: &NewGroup, parent: Option<&Namespace>, settings: &Settings) -> GroupDetails {
    let lowest = parent.map_or(Visibility::Public, |parent| parent.visibility);
    let inherited = parent.map(Namespace::settings).unwrap_or_default();
    GroupDetails {
        name: new.name.clone(),
        path: new.path.clone(),
        description: None,
        visibility: new.visibility.unwrap_or(settings.default_group_visibility.min(lowest)),
        avatar: None,
        default_branch_protection: None,
        project_creation_level: match settings.default_project_creation {
            0 => ProjectCreation::NoOne,
            1 => ProjectCreation::Maintainer,
            _ => ProjectCreation::Developer,
        },
        subgroup_creation_level: SubgroupCreation::Maintainer,
        settings: GroupSettings {
            share_with_group_lock: inherited.share_with_group_lock,
            shared_runners_enabled: inherited.shared_runners_enabled,
            allow_descendants_override_disabled_shared_runners: inherited
                .allow_descendants_override_disabled_shared_runners,
            runners_token: Some(runners_token()),
            ..GroupSettings::default()
        },
    }
}

/// A group to be above another one, as it is now that nobody else moves groups.
pub(super) fn read(
    tx: &mut Tx<'_>,
    parent: Option<(NamespaceId, Standing)>,
) -> Result<Option<(Namespace, Standing)>> {
    parent.map(|(parent, who)| Ok((tx.namespace(parent)?, who))).transpose()
}

fn ensure_may_create(
    tx: &mut Tx<'_>,
    user: UserId,
    admin: bool,
    parent: Option<&(Namespace, Standing)>,
    settings: &Settings,
) -> Result<()> {
    if may_create(tx, user, admin, parent, settings)? { Ok(()) } else { Err(Error::forbidden()) }
}

/// Whether somebody may make a group in another one, or at the top.
pub(super) fn may_create(
    tx: &mut Tx<'_>,
    user: UserId,
    admin: bool,
    parent: Option<&(Namespace, Standing)>,
    settings: &Settings,
) -> Result<bool> {
    if admin {
        return Ok(true);
    }
    let user = tx.user(user)?;
    if user.external {
        return Ok(false);
    }
    Ok(match parent {
        Some((parent, who)) => who.is(parent.may_create_subgroups()),
        // Nobody would own what a bot makes outside of the group or project that it is of.
        None => !user.bot && settings.can_create_group && user.can_create_group,
    })
}

/// The product's own form of this refusal: one text that holds the printed fields.
fn failed(faults: Faults) -> Error {
    let printed: Vec<String> = faults
        .into_fields()
        .into_iter()
        .map(|(field, texts)| format!(":{field}=>{texts:?}"))
        .collect();
    Error::bad_request().whole(format!("Failed to save group {{{}}}", printed.join(", ")))
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
        if rules::is_too_deep(&parent.full_path, 1) {
            faults.add("parent_id", rules::TOO_DEEP);
        }
    }
    let description = details.description.as_deref();
    faults.at_most("description", description, rules::LONGEST_DESCRIPTION);
    rules::settings_faults(&details.settings, parent.is_none(), &mut faults);
    if details.settings.require_two_factor_authentication
        && !runners::may_demand_second_factor(tx, parent)?
    {
        faults.add("require_two_factor_authentication", "is forbidden by a top-level group");
    }
    let protection = details.default_branch_protection;
    if protection.is_some_and(|level| !rules::BRANCH_PROTECTIONS.contains(&level)) {
        faults.add("default_branch_protection", "is not included in the list");
    }
    Ok(faults)
}

fn visibility_faults(
    details: &GroupDetails,
    around: VisibilityLimits,
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
    access::lock_access_projection(tx)?;
    let group = tx.namespace(grant.group())?;
    let parent = group.parent_id.map(|id| tx.namespace(id)).transpose()?;
    let mut details = GroupDetails::of(&group);
    change(&mut details);
    let old = group.settings();
    ensure_own_limits(grant.actor().admin, &old, &details.settings)?;
    if details.default_branch_protection != group.default_branch_protection
        && !grant.actor().admin
        && !tx.settings()?.group_owners_can_manage_default_branch_protection()
    {
        // As for whoever may not change it at all: the wish does not count.
        details.default_branch_protection = group.default_branch_protection;
    }
    let mut faults = faults_of(tx, &details, parent.as_ref(), Some(&group))?;
    inherited_faults(tx, grant, (&old, &details.settings), parent.as_ref(), &mut faults)?;
    if !is_template_fit(tx, &group, (&old, &details.settings))? {
        faults.add("file_template_project_id", "is invalid");
    }
    if details.visibility != group.visibility {
        let (projects, groups) = tx.visibility_inside(group.id)?;
        let parent = parent.as_ref().map(|parent| parent.visibility);
        let around = VisibilityLimits { parent, projects, groups };
        let settings = tx.settings()?;
        let texts = visibility_faults(&details, around, grant.actor().admin, &settings);
        faults.add_each("visibility_level", texts);
    }
    faults.into_result()?;
    if (&details.name, &details.path) != (&group.name, &group.path) {
        relocate(tx, &group, &NewPath::below(parent.as_ref(), &details.name, &details.path))?;
    }
    tx.save_group(group.id, &details)?;
    let changed = tx.namespace(group.id)?;
    runners::apply_to_descendants(tx, &old, &changed)?;
    downloads::pardon(tx, &changed, (&old, &changed.settings()))?;
    announce(tx, &group, &changed, grant.actor().id)?;
    record_changes(tx, &group, &changed)?;
    Ok(changed)
}

/// Writes down, with both values, what is otherwise than before: what decides who sees a group and what its members may do by
/// events with names of their own.
fn record_changes(tx: &mut Tx<'_>, before: &Namespace, after: &Namespace) -> Result<()> {
    let place = AuditPlace::Group(after.id);
    let (old, new) = (audited_values(before), audited_values(after));
    let mut untold = vec!["runners_token"];
    for ((name, what, from), (_, _, to)) in old.into_iter().zip(new) {
        untold.push(what);
        if from != to {
            let change = AuditRecord::change(name, place, what).values(from, to);
            tx.mention(change.target("Group", after.id.0, &after.name));
        }
    }
    let (old, new) = (OtherValues::of(before), OtherValues::of(after));
    for ValueChange { name, from, to } in value_changes(&old, &new, &untold)? {
        let change = AuditRecord::change("group_updated", place, &name).values(from, to);
        tx.mention(change.target("Group", after.id.0, &after.name));
    }
    Ok(())
}

/// What a change may touch of a group beside its names and visibility, by the API's names.
#[derive(Serialize)]
struct OtherValues<'a> {
    description: Option<&'a str>,
    avatar: Option<&'a str>,
    default_branch_protection: Option<i32>,
    subgroup_creation_level: &'a str,
    #[serde(flatten)]
    settings: GroupSettings,
}

impl<'a> OtherValues<'a> {
    fn of(group: &'a Namespace) -> Self {
        Self {
            description: group.description.as_deref(),
            avatar: group.avatar.as_deref(),
            default_branch_protection: group.default_branch_protection,
            subgroup_creation_level: &group.subgroup_creation_level,
            settings: group.settings(),
        }
    }
}

/// The audited values of a group, each with the name of the event of its change and that of the value.
fn audited_values(group: &Namespace) -> [(&'static str, &'static str, String); 9] {
    let settings = group.settings();
    let lfs = settings.lfs_enabled.map(|is_on| is_on.to_string()).unwrap_or_default();
    let minutes = settings.shared_runners_minutes_limit;
    let minutes = minutes.map(|minutes| minutes.to_string()).unwrap_or_default();
    let second_factor = settings.require_two_factor_authentication.to_string();
    let grace = settings.two_factor_grace_period.to_string();
    let requests = settings.request_access_enabled.to_string();
    let lock = settings.membership_lock.to_string();
    let creation = group.project_creation_level.clone();
    [
        ("group_name_updated", "name", group.name.clone()),
        ("group_visibility_level_updated", "visibility", group.visibility.to_string()),
        ("group_project_creation_level_updated", "project_creation_level", creation),
        ("group_request_access_enabled_updated", "request_access_enabled", requests),
        ("group_membership_lock_updated", "membership_lock", lock),
        (
            "group_require_two_factor_authentication_updated",
            "require_two_factor_authentication",
            second_factor,
        ),
        ("group_two_factor_grace_period_updated", "two_factor_grace_period", grace),
        ("group_lfs_enabled_updated", "lfs_enabled", lfs),
        ("group_shared_runners_minutes_limit_updated", "shared_runners_minutes_limit", minutes),
    ]
}

fn announce(tx: &mut Tx<'_>, old: &Namespace, new: &Namespace, user: Option<UserId>) -> Result<()> {
    if new.full_path != old.full_path {
        tx.emit(Event::GroupRename {
            group: new.into(),
            old_path: old.path.clone(),
            old_full_path: old.full_path.clone(),
            user,
        })?;
    }
    tx.emit(Event::GroupUpdate { group: new.into(), user })
}

/// What the group above has against new settings.
fn inherited_faults(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    (old, new): (&GroupSettings, &GroupSettings),
    parent: Option<&Namespace>,
    faults: &mut Faults,
) -> Result<()> {
    const LOCKED: &str = "cannot be disabled when the parent group \"Share with group lock\" is enabled, except by the \
                          owner of the parent group";
    let Some(parent) = parent else { return Ok(()) };
    let above = parent.settings();
    for (field, texts) in runners::faults(old, new, &above).into_fields() {
        faults.add_each(&field, texts);
    }
    let unlocks = old.share_with_group_lock && !new.share_with_group_lock;
    if unlocks && above.share_with_group_lock && !grant.actor().admin {
        let level = access::level_in_namespace(tx, grant.actor(), parent.id)?;
        if level < AccessLevel::Owner {
            faults.add("share_with_group_lock", LOCKED);
        }
    }
    Ok(())
}

/// Whether the project that file templates come from is one of the group's own.
fn is_template_fit(
    tx: &mut Tx<'_>,
    group: &Namespace,
    (old, new): (&GroupSettings, &GroupSettings),
) -> Result<bool> {
    let wanted = new.file_template_project_id;
    let Some(id) = wanted.filter(|_| wanted != old.file_template_project_id) else {
        return Ok(true);
    };
    let found = tx.find_project(id)?;
    Ok(found.is_some_and(|project| project.namespace_id == group.id))
}

/// Notes the name of a new group's picture.
pub fn set_avatar(tx: &mut Tx<'_>, group: NamespaceId, name: String) -> Result<Namespace> {
    let details = GroupDetails { avatar: Some(name), ..GroupDetails::of(&tx.namespace(group)?) };
    tx.save_group(group, &details)?;
    tx.namespace(group)
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
