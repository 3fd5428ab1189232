//! A project's row, settings and members in archives.

use db::{
    Tx,
    archive::{Column, Relation},
    each_backend, error,
    schema::projects,
};
use diesel::prelude::*;
use kernel::{
    Actor, Faults, Result, TextEnum as _, Ts, Visibility, access::FeatureAccess, ids::ProjectId,
};
use serde::{Deserialize, Serialize};

use super::{
    FeatureChange, ProjectChange, Settings, SettingsChange,
    change::{self, Columns},
    home,
    rules::{
        add_topic_faults, ensure_possible, ensure_runners, ensure_unrestricted,
        possible_description, possible_settings, possible_topics,
    },
    settings::SettingsStore as _,
    store::ProjectStore as _,
    topics::TopicStore as _,
};
use crate::{
    each_project_setting, namespace::store::NamespaceStore as _,
    settings::store::SettingsStore as _,
};

/// Direct members. They are written by [`members`](crate::member), which keeps effective access.
pub static MEMBERS: Relation = Relation {
    name: "project_members",
    table: "members",
    scope: "project_id = $1 AND access_level > 0",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::person("user_id"),
        Column::level("access_level", 5, 50),
        Column::moment("expires_at").optional(),
        Column::moment("created_at").optional(),
    ],
    signed: None,
};

/// A project as archives hold it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProjectRecord {
    pub id: i64,
    pub name: String,
    pub path: String,
    #[serde(default)]
    pub description: Option<String>,
    pub visibility: Visibility,
    #[serde(default)]
    pub archived: bool,
    #[serde(default)]
    pub default_branch: Option<String>,
    pub features: FeatureRecord,
    pub settings: Settings,
    #[serde(default)]
    pub topics: Vec<String>,
    /// The name of the picture, which is a file of the archive.
    #[serde(default)]
    pub avatar: Option<String>,
    pub created_at: String,
}

/// The features that have columns of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FeatureRecord {
    pub repository: FeatureAccess,
    pub issues: FeatureAccess,
    pub merge_requests: FeatureAccess,
    pub forking: FeatureAccess,
    pub builds: FeatureAccess,
    pub wiki: FeatureAccess,
    pub snippets: FeatureAccess,
}

/// A project as it is written into an archive. What registers runners is no part of it.
///
/// # Errors
/// When the database cannot be read.
pub fn record(tx: &mut Tx<'_>, id: ProjectId) -> Result<ProjectRecord> {
    let project = tx.project(id)?;
    let settings = Settings { runners_token: String::new(), ..tx.project_settings(id)? };
    let mut topics = tx.topics_by_project(&[id])?;
    Ok(ProjectRecord {
        id: id.0,
        features: FeatureRecord {
            repository: project.repository_access,
            issues: project.issues_access,
            merge_requests: project.merge_requests_access,
            forking: project.forking_access,
            builds: project.builds_access,
            wiki: project.wiki_access,
            snippets: project.snippets_access,
        },
        name: project.name,
        path: project.path,
        description: project.description,
        visibility: project.visibility,
        archived: project.archived,
        default_branch: project.default_branch,
        settings: possible_settings(settings),
        topics: possible_topics(topics.remove(&id).unwrap_or_default()),
        avatar: project.avatar,
        created_at: project.created_at.iso(),
    })
}

/// Gives a project what an archive says of it. It is shown to nobody to whom its group or the installation would not
/// show it, and keeps its own name, path and address.
///
/// # Errors
/// As [`ProjectRecord::ensure_sound`].
pub fn restore(tx: &mut Tx<'_>, id: ProjectId, actor: Actor, record: &ProjectRecord) -> Result<()> {
    let project = tx.project(id)?;
    let home = tx.namespace(project.namespace_id)?;
    let installation = tx.settings()?;
    let wanted = record.visibility.min(home::most_visible(&home));
    let visibility = match ensure_unrestricted(actor, &installation, wanted) {
        Ok(()) => wanted,
        Err(_restricted) => Visibility::Private,
    };
    record.ensure_sound()?;
    let mut settings = settings_change(&record.settings);
    // It comes last and alone: the rule that it once made is in the archive, as it is now.
    settings.approvals_before_merge = None;
    // Runners that a group keeps from its projects stay off.
    let begun = tx.project_settings(id)?;
    if ensure_runners(&home, &begun, &settings).is_err() {
        settings.shared_runners_enabled = Some(begun.shared_runners_enabled);
    }
    let change = ProjectChange {
        description: Some(record.description.as_deref().map(possible_description)),
        visibility: Some(visibility),
        features: FeatureChange {
            repository: Some(record.features.repository),
            issues: Some(record.features.issues),
            merge_requests: Some(record.features.merge_requests),
            forking: Some(record.features.forking),
            builds: Some(record.features.builds),
            wiki: Some(record.features.wiki),
            snippets: Some(record.features.snippets),
        },
        topics: Some(record.topics.clone()),
        avatar: Some(record.avatar.clone()),
        settings,
        ..ProjectChange::default()
    };
    change::write(tx, id, &change)?;
    let mut settings = tx.project_settings(id)?;
    settings.approvals_before_merge = record.settings.approvals_before_merge;
    settings.container_expiration_policy = record.settings.container_expiration_policy.clone();
    settings.ci_inbound_job_token_scope_enabled =
        record.settings.ci_inbound_job_token_scope_enabled;
    tx.save_settings(id, &settings)
}

/// Says of a project that it has no branch.
///
/// # Errors
/// When the database cannot be written.
pub fn empty(tx: &mut Tx<'_>, id: ProjectId) -> Result<()> {
    let columns = Columns {
        default_branch: Some(None),
        readme_path: Some(None),
        license_path: Some(None),
        ..Columns::default()
    };
    change::update(tx, id, columns, FeatureChange::default()).map(drop)
}

/// What is done last: nobody writes to archived projects.
///
/// # Errors
/// When the database cannot be written.
pub fn finish(tx: &mut Tx<'_>, id: ProjectId, record: &ProjectRecord) -> Result<()> {
    let columns = Columns { archived: Some(record.archived), ..Columns::default() };
    change::update(tx, id, columns, FeatureChange::default())?;
    if let Some(at) = Ts::parse(&record.created_at).filter(|at| *at <= tx.now) {
        let row = diesel::update(projects::table.find(id)).set(projects::created_at.eq(at));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Project")))?;
    }
    Ok(())
}

macro_rules! changing_all { ($($name:ident: $type:ty = $default:expr),* $(,)?) => {
    fn settings_change(settings: &Settings) -> SettingsChange {
        SettingsChange {
            $($name: Some(settings.$name.clone()),)*
            container_expiration_policy: None,
        }
    }
} }
each_project_setting!(changing_all);

impl ProjectRecord {
    /// Looks whether there can be such a project.
    ///
    /// # Errors
    /// `BadRequest` for settings that no job could run with, and for values that no project can be set to.
    pub fn ensure_sound(&self) -> Result<()> {
        let mut faults = Faults::default();
        for (name, access) in self.levels() {
            if access == FeatureAccess::Public {
                faults.add(name, "does not have a valid value");
            }
        }
        add_topic_faults(&mut faults, &self.topics);
        faults.into_result()?;
        let policy = self.settings.container_expiration_policy.as_ref();
        ensure_possible(&SettingsChange {
            container_expiration_policy: policy.map(Into::into),
            ..settings_change(&self.settings)
        })
    }

    /// The reach of each feature that is shown to members at most where the project is. Pages may be shown to all.
    fn levels(&self) -> [(&'static str, FeatureAccess); 17] {
        let (own, rest) = (&self.features, &self.settings);
        [
            ("repository_access_level", own.repository),
            ("issues_access_level", own.issues),
            ("merge_requests_access_level", own.merge_requests),
            ("forking_access_level", own.forking),
            ("builds_access_level", own.builds),
            ("wiki_access_level", own.wiki),
            ("snippets_access_level", own.snippets),
            ("operations_access_level", rest.operations_access_level),
            ("analytics_access_level", rest.analytics_access_level),
            ("container_registry_access_level", rest.container_registry_access_level),
            ("security_and_compliance_access_level", rest.security_and_compliance_access_level),
            ("releases_access_level", rest.releases_access_level),
            ("environments_access_level", rest.environments_access_level),
            ("feature_flags_access_level", rest.feature_flags_access_level),
            ("infrastructure_access_level", rest.infrastructure_access_level),
            ("monitor_access_level", rest.monitor_access_level),
            ("requirements_access_level", rest.requirements_access_level),
        ]
    }

    /// Values that somebody gives in the place of those of the archive; what is no value of a field does not count.
    #[must_use]
    pub fn overridden(self, values: &serde_json::Map<String, serde_json::Value>) -> Self {
        let text = |name: &str| values.get(name).and_then(serde_json::Value::as_str);
        let visibility = text("visibility").and_then(Visibility::find);
        let mut settings = self.settings;
        if let Ok(serde_json::Value::Object(mut all)) = serde_json::to_value(&settings) {
            for (name, value) in values {
                if SettingsChange::NAMES.contains(&name.as_str()) {
                    all.insert(name.clone(), value.clone());
                }
            }
            if let Ok(changed) = serde_json::from_value(serde_json::Value::Object(all)) {
                settings = changed;
            }
        }
        Self {
            description: text("description").map(str::to_owned).or(self.description),
            visibility: visibility.unwrap_or(self.visibility),
            settings,
            ..self
        }
    }
}
