//! New projects: the row with what belongs to it, and who may create one where.

use db::{
    Tx, each_backend, error,
    schema::{project_settings, project_statistics, projects},
};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Grant, Result, Visibility,
    access::{Administrate, FeatureAccess, SignedIn},
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{
    Project, ProjectChange, Settings, change,
    event::Event,
    home, names,
    rules::{
        ensure_described, ensure_possible, ensure_runners, ensure_storage, ensure_storage_for_new,
        ensure_unrestricted,
    },
    settings::SettingsStore as _,
};
use crate::{
    access, hierarchy, member,
    namespace::{Namespace, by_ids::by_ids, store::NamespaceStore as _},
    settings::store::SettingsStore as _,
    user::{User, store::UserStore as _},
};

/// A project as it is first written down; names and paths are already checked.
#[derive(Clone, Debug)]
pub struct NewProject {
    pub namespace_id: NamespaceId,
    pub creator_id: UserId,
    pub name: String,
    pub path: String,
    pub description: Option<String>,
    pub visibility: Visibility,
}

/// Writes a project down, without its repository. Effective access is there with it.
pub fn insert(tx: &mut Tx<'_>, new: &NewProject) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let namespace = tx.namespace(new.namespace_id)?;
    let full_path = format!("{}/{}", namespace.full_path, new.path);
    home::free_address(tx, &full_path.to_lowercase())?;
    let enabled = FeatureAccess::Enabled;
    let row = (
        (
            projects::namespace_id.eq(new.namespace_id),
            projects::creator_id.eq(new.creator_id),
            projects::name.eq(&new.name),
            projects::path.eq(&new.path),
            projects::path_key.eq(full_path.to_lowercase()),
            projects::full_path.eq(full_path),
            projects::full_name.eq(format!("{} / {}", namespace.full_name, new.name)),
            projects::description.eq(&new.description),
            projects::visibility.eq(new.visibility),
            projects::archived.eq(false),
        ),
        (
            projects::repository_access.eq(enabled),
            projects::issues_access.eq(enabled),
            projects::merge_requests_access.eq(enabled),
            projects::forking_access.eq(enabled),
            projects::builds_access.eq(enabled),
            projects::wiki_access.eq(enabled),
            projects::snippets_access.eq(enabled),
        ),
        projects::star_count.eq(0),
        projects::forks_count.eq(0),
        projects::import_status.eq("none"),
        projects::last_activity_at.eq(tx.now),
        projects::created_at.eq(tx.now),
        projects::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(projects::table).values(row);
    let project: Project = each_backend!(tx, |conn| insert
        .returning(Project::as_returning())
        .get_result(conn)
        .map_err(error("Project")))?;
    insert_companions(tx, project.id, &namespace)?;
    member::steps::ensure_owner(tx, project.id, namespace.owner_id)?;
    access::refresh_project(tx, project.id)?;
    tx.emit(Event::ProjectCreated {
        project: project.id,
        namespace: project.namespace_id,
        creator: project.creator_id,
        name: project.name.clone(),
    })?;
    Ok(project)
}

fn insert_companions(tx: &mut Tx<'_>, project: ProjectId, home: &Namespace) -> Result<()> {
    let now = tx.now;
    each_backend!(tx, |conn| diesel::insert_into(project_settings::table)
        .values((project_settings::project_id.eq(project), project_settings::settings.eq("{}")))
        .execute(conn)
        .map_err(error("Project")))?;
    let begins = Settings::in_namespace(home);
    if begins != Settings::default() {
        tx.save_settings(project, &begins)?;
    }
    each_backend!(tx, |conn| diesel::insert_into(project_statistics::table)
        .values((
            project_statistics::project_id.eq(project),
            project_statistics::commit_count.eq(0),
            project_statistics::repository_size.eq(0),
            project_statistics::updated_at.eq(now),
        ))
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(())
}

/// The parameters of a new project.
#[derive(Clone, Debug, Default)]
pub struct Creation {
    /// The caller's own namespace where none is named.
    pub namespace: Option<NamespaceId>,
    pub name: Option<String>,
    pub path: Option<String>,
    /// Names and paths in it do not count.
    pub change: ProjectChange,
}

/// Makes a project for the caller. Its repository is made after the commit, by whoever asked.
pub fn create(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, wanted: &Creation) -> Result<Project> {
    let creator = tx.user(grant.user()?)?;
    create_as(tx, grant.actor(), &creator, wanted)
}

/// Makes a project for somebody else, in their own namespace.
pub fn create_for(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    owner: UserId,
    wanted: &Creation,
) -> Result<Project> {
    let creator = tx.user(owner)?;
    create_as(tx, grant.actor(), &creator, wanted)
}

fn create_as(tx: &mut Tx<'_>, actor: Actor, creator: &User, wanted: &Creation) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let home = match wanted.namespace {
        None => tx.personal_namespace(creator.id)?.ok_or_else(|| Error::not_found("Namespace"))?,
        Some(id) => match tx.find_namespace(id)? {
            // Whether there is room in one's own is asked below, and told.
            Some(home) if home::is_own(actor, &home) => home,
            Some(home) if home::may_create_in(tx, actor, &home)? => home,
            _ => return Err(Error::invalid("namespace", "is not valid")),
        },
    };
    home::ensure_room(tx, creator, &home)?;
    let name = wanted.name.as_ref().or(wanted.path.as_ref()).cloned().unwrap_or_default();
    let path = wanted.path.clone().unwrap_or_else(|| names::path_of(&name));
    let mut flaws = names::flaws(&name, &path);
    flaws.extend(home::taken(tx, &home, &name, &path, None)?);
    if !flaws.is_empty() {
        return Err(Error::bad_request().fields(flaws));
    }
    ensure_described(&wanted.change)?;
    ensure_possible(&wanted.change.settings)?;
    ensure_storage(actor, &wanted.change)?;
    ensure_runners(&home, &Settings::in_namespace(&home), &wanted.change.settings)?;
    let installation = tx.settings()?;
    ensure_storage_for_new(actor, wanted.change.repository_storage.as_deref(), &installation)?;
    let asked = wanted.change.visibility.unwrap_or(installation.default_project_visibility);
    ensure_unrestricted(actor, &installation, asked)?;
    let new = NewProject {
        namespace_id: home.id,
        creator_id: creator.id,
        name,
        path,
        description: wanted.change.description.clone().flatten(),
        // More than the group shows is lowered without a word.
        visibility: asked.min(home::most_visible(&home)),
    };
    let project = insert(tx, &new)?;
    let mut settings = Settings::in_namespace(&home);
    settings.shared_runners_enabled &= installation.shared_runners_enabled();
    settings.auto_devops_enabled = begins_with_auto_devops(tx, &home, &installation)?;
    wanted.change.settings.apply(&mut settings);
    settings.runners_token = runners_token();
    tx.save_settings(project.id, &settings)?;
    let rest = ProjectChange {
        features: wanted.change.features,
        topics: wanted.change.topics.clone(),
        avatar: wanted.change.avatar.clone(),
        ..ProjectChange::default()
    };
    change::write(tx, project.id, &rest)
}

/// Whether a new project in a namespace has Auto DevOps: as the nearest group says that says it, else the installation.
fn begins_with_auto_devops(
    tx: &mut Tx<'_>,
    home: &Namespace,
    installation: &crate::settings::Settings,
) -> Result<bool> {
    let mut said = home.settings().auto_devops_enabled;
    if said.is_none() && home.parent_id.is_some() {
        let above = hierarchy::above_group(tx, home.id)?;
        let groups = by_ids(tx, &above)?;
        let of = |id: &NamespaceId| groups.iter().find(|group| group.id == *id);
        said = above.iter().filter_map(of).find_map(|group| group.settings().auto_devops_enabled);
    }
    Ok(said.unwrap_or_else(|| installation.auto_devops_enabled()))
}

pub(crate) fn runners_token() -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let random: [u8; 20] = rand::random();
    let tail = random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)]));
    "GR1348941".chars().chain(tail).collect()
}
