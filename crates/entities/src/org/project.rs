//! A project's record, in its forms: basic for everybody, full for those who are signed in or ask for one.

use admin::{archive::ArchiveImport, import::Import};
use forge::urls::Urls;
use kernel::{
    AccessLevel::{Maintainer, Reporter},
    Feature, Ts, Visibility,
    access::FeatureAccess,
    ids::ProjectId,
};
use org::project::{ProjectView, STORAGE, view::FullView};
use review::issue::open_count::OpenIssues;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    brief_user::BriefUser,
    custom_attribute::CustomAttributeEntity,
    namespace::NamespaceEntity,
    project_parts::{
        ImportSource, LicenseEntity, Permissions, ProjectLinks, SharedGroup, StatisticsEntity,
    },
    project_settings::{
        CiSettings, ExpirationPolicyEntity, FeatureLevels, FurtherSettings, MergeSettings,
    },
};

/// Fields that all forms of a project share.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectIdentity {
    pub id: i64,
    pub description: Option<String>,
    pub name: String,
    pub name_with_namespace: String,
    pub path: String,
    pub path_with_namespace: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BasicProject {
    #[serde(flatten)]
    pub identity: ProjectIdentity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<Option<String>>,
    pub tag_list: Vec<String>,
    pub topics: Vec<String>,
    pub ssh_url_to_repo: String,
    pub http_url_to_repo: String,
    pub web_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readme_url: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license_url: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<Option<LicenseEntity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forks_count: Option<i64>,
    pub avatar_url: Option<String>,
    pub star_count: i64,
    #[schema(value_type = String)]
    pub last_activity_at: Ts,
    pub namespace: NamespaceEntity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<Vec<CustomAttributeEntity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_storage: Option<&'static str>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectEntity {
    #[serde(flatten)]
    pub basic: BasicProject,
    pub container_registry_image_prefix: String,
    #[serde(rename = "_links")]
    pub links: ProjectLinks,
    pub packages_enabled: bool,
    pub empty_repo: bool,
    pub archived: bool,
    #[schema(value_type = String)]
    pub visibility: Visibility,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<BriefUser>,
    pub resolve_outdated_diff_discussions: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_expiration_policy: Option<ExpirationPolicyEntity>,
    pub issues_enabled: bool,
    pub merge_requests_enabled: bool,
    pub wiki_enabled: bool,
    pub jobs_enabled: bool,
    pub snippets_enabled: bool,
    pub container_registry_enabled: bool,
    pub service_desk_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_desk_address: Option<Option<String>>,
    pub can_create_merge_request_in: bool,
    #[serde(flatten)]
    pub features: FeatureLevels,
    pub emails_disabled: Option<bool>,
    pub shared_runners_enabled: bool,
    pub lfs_enabled: bool,
    pub creator_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub forked_from_project: Option<BasicProject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mr_default_target_self: Option<bool>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub import_source: Option<ImportSource>,
    pub import_status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import_error: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_issues_count: Option<i64>,
    #[serde(flatten)]
    pub ci: CiSettings,
    pub shared_with_groups: Vec<SharedGroup>,
    #[serde(flatten)]
    pub merging: MergeSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<StatisticsEntity>,
    pub autoclose_referenced_issues: bool,
    #[serde(flatten)]
    pub further: FurtherSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
}

/// Full form, or short form for `simple=true`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ProjectForm {
    Basic(Box<BasicProject>),
    Full(Box<ProjectEntity>),
}

impl ProjectForm {
    /// The full form where it was loaded.
    pub fn new(urls: &Urls, shown: &ProjectView, open: &OpenIssues) -> Self {
        match &shown.full {
            None => Self::Basic(Box::new(BasicProject::new(urls, shown))),
            Some(full) => Self::Full(Box::new(ProjectEntity::new(urls, shown, full, open))),
        }
    }

    /// Adds where the project came from, for those who are told.
    pub fn set_import(&mut self, import: &Import) {
        let Self::Full(full) = self else { return };
        let Some(source) = &mut full.import_source else { return };
        source.import_type = Some(import.kind.to_string());
        source.import_url =
            import.origin().ok().map(|origin| origin.git).filter(|url| !url.is_empty());
        full.import_error = Some(import.error.clone());
    }

    /// As [`set_import`](Self::set_import), for a project that came out of an archive.
    pub fn set_archive_import(&mut self, import: &ArchiveImport) {
        let Self::Full(full) = self else { return };
        let Some(source) = &mut full.import_source else { return };
        source.import_type = Some(forge::archive::actions::SOURCE.to_owned());
        full.import_error = Some(import.error.clone());
    }

    /// The sizes, where they were asked for.
    pub fn statistics_mut(&mut self) -> Option<&mut StatisticsEntity> {
        match self {
            Self::Basic(_) => None,
            Self::Full(full) => full.statistics.as_mut(),
        }
    }

    /// Whether it has, or had, an import: forks have a status, too, and no source.
    pub fn is_imported(&self) -> bool {
        match self {
            Self::Basic(_) => false,
            Self::Full(full) => full.import_status != "none" && full.import_source.is_some(),
        }
    }

    pub fn id(&self) -> ProjectId {
        match self {
            Self::Basic(basic) => ProjectId(basic.identity.id),
            Self::Full(full) => ProjectId(full.basic.identity.id),
        }
    }

    pub fn basic_mut(&mut self) -> &mut BasicProject {
        match self {
            Self::Basic(basic) => basic,
            Self::Full(full) => &mut full.basic,
        }
    }
}

impl From<&org::project::Project> for ProjectIdentity {
    fn from(project: &org::project::Project) -> Self {
        Self {
            id: project.id.0,
            description: project.description.clone(),
            name: project.name.clone(),
            name_with_namespace: project.full_name.clone(),
            path: project.path.clone(),
            path_with_namespace: project.full_path.clone(),
            created_at: project.created_at,
        }
    }
}

pub(super) fn reads_code(shown: &ProjectView) -> bool {
    shown.who.reads(Feature::Repository, Reporter)
}

impl BasicProject {
    pub fn new(urls: &Urls, shown: &ProjectView) -> Self {
        let project = &shown.project;
        let code = reads_code(shown);
        let web_url = urls.at(&project.full_path);
        let at_top = |file: &String| {
            let branch = project.default_branch.as_ref()?;
            Some(format!("{web_url}/-/blob/{branch}/{file}"))
        };
        let picture =
            |file| urls.at(&format!("uploads/-/system/project/avatar/{}/{file}", project.id));
        let host = urls.host();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        Self {
            identity: project.into(),
            default_branch: code.then(|| project.default_branch.clone()),
            tag_list: shown.topics.clone(),
            topics: shown.topics.clone(),
            ssh_url_to_repo: format!("git@{name}:{}.git", project.full_path),
            http_url_to_repo: urls.repository(&project.full_path),
            readme_url: code.then(|| project.readme_path.as_ref().and_then(at_top)),
            license_url: None,
            license: None,
            forks_count: code.then_some(project.forks_count),
            avatar_url: project.avatar.as_ref().map(picture),
            star_count: project.star_count,
            last_activity_at: project.last_activity_at,
            namespace: NamespaceEntity::new(urls, &shown.namespace),
            custom_attributes: None,
            repository_storage: shown.who.admin().then_some(STORAGE),
            web_url,
        }
    }
}

impl ProjectEntity {
    fn new(urls: &Urls, shown: &ProjectView, full: &FullView, open: &OpenIssues) -> Self {
        let (project, who, settings) = (&shown.project, &shown.who, &full.settings);
        let usable = |feature| who.reads(feature, kernel::AccessLevel::Guest);
        let maintains = who.is(Maintainer);
        let statistics = full.statistics.filter(|_| who.is(Reporter)).map(Into::into);
        let registry = settings.container_registry_access_level;
        Self {
            basic: BasicProject::new(urls, shown),
            container_registry_image_prefix: urls.image_prefix(&project.full_path),
            links: ProjectLinks::new(urls, shown),
            packages_enabled: settings.packages_enabled,
            empty_repo: project.default_branch.is_none(),
            archived: project.archived,
            visibility: project.visibility,
            owner: full.owner.as_ref().map(|owner| BriefUser::of(urls, owner)),
            resolve_outdated_diff_discussions: settings.resolve_outdated_diff_discussions,
            container_expiration_policy: settings
                .container_expiration_policy
                .clone()
                .map(Into::into),
            issues_enabled: usable(Feature::Issues),
            merge_requests_enabled: usable(Feature::MergeRequests),
            wiki_enabled: usable(Feature::Wiki),
            jobs_enabled: usable(Feature::Builds),
            snippets_enabled: usable(Feature::Snippets),
            container_registry_enabled: registry != FeatureAccess::Disabled,
            service_desk_enabled: settings.service_desk_enabled,
            service_desk_address: who.is(Reporter).then_some(None),
            can_create_merge_request_in: who.signed_in()
                && !project.archived
                && usable(Feature::MergeRequests),
            features: FeatureLevels::new(shown, full),
            emails_disabled: settings.emails_disabled,
            shared_runners_enabled: settings.shared_runners_enabled,
            lfs_enabled: settings.lfs_enabled,
            creator_id: project.creator_id.0,
            forked_from_project: full
                .forked_from
                .as_ref()
                .map(|from| BasicProject::new(urls, from)),
            mr_default_target_self: project.forked_from_id.map(|_| settings.mr_default_target_self),
            import_source: maintains.then(ImportSource::default),
            import_status: project.import_status.clone(),
            import_error: maintains.then_some(None),
            open_issues_count: usable(Feature::Issues).then(|| open.of(project.id, who)),
            ci: CiSettings::new(shown, full),
            shared_with_groups: full.shared_with.iter().map(Into::into).collect(),
            merging: settings.into(),
            statistics,
            autoclose_referenced_issues: settings.autoclose_referenced_issues,
            further: FurtherSettings::new(&shown.project, settings),
            permissions: who.signed_in().then(|| full.into()),
        }
    }
}
