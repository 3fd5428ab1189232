//! Project settings as parameters, shared by creating and updating a project.

use forge::files::Upload;
use kernel::{Visibility, access::FeatureAccess};
use org::project::{
    FeatureChange, ProjectChange, SettingsChange,
    settings::{DeployStrategy, ExpirationChange, GitStrategy, MergeMethod, SquashOption, Switch},
};

use crate::{
    extract::{
        Change, Csv, Param, ParamErrors, Params, RawMap,
        params::{NOT_LISTED, ParamDoc, ParamField, at_least_one, documented, exclusive},
    },
    param_enums, params,
};

param_enums! { DeployStrategy, GitStrategy, MergeMethod, SquashOption, Switch }

params! {
    /// Which container images are cleaned up.
    pub struct PolicyParams {
        cadence: Option<String>,
        keep_n: Option<i64>,
        older_than: Option<String>,
        name_regex: Option<String>,
        name_regex_keep: Option<String>,
        enabled: Option<bool>,
    }
}

params! {
    /// All that is no plain setting.
    pub struct OwnParams {
        name: Option<String>,
        path: Option<String>,
        description: Change<String>,
        visibility: Option<Visibility>,
        default_branch: Option<String>,
        topics: Option<Csv<String>>,
        /// Same as `topics`; deprecated.
        tag_list: Option<Csv<String>>,
        avatar: Change<Upload>,
        repository_access_level: Option<FeatureAccess>,
        issues_access_level: Option<FeatureAccess>,
        merge_requests_access_level: Option<FeatureAccess>,
        forking_access_level: Option<FeatureAccess>,
        builds_access_level: Option<FeatureAccess>,
        wiki_access_level: Option<FeatureAccess>,
        snippets_access_level: Option<FeatureAccess>,
        issues_enabled: Option<bool>,
        merge_requests_enabled: Option<bool>,
        jobs_enabled: Option<bool>,
        wiki_enabled: Option<bool>,
        snippets_enabled: Option<bool>,
        container_registry_enabled: Option<bool>,
        /// Same as `public_jobs`; deprecated.
        public_builds: Option<bool>,
        container_expiration_policy_attributes: Option<PolicyParams>,
        repository_storage: Option<String>,
    }
}

/// Everything that a project can be set to.
#[derive(Clone, Debug)]
pub struct ProjectParams {
    pub own: OwnParams,
    pub settings: SettingsChange,
}

macro_rules! setting_params { ($($name:ident: $type:ty = $default:expr),* $(,)?) => {
    fn read_settings(raw: &RawMap, flaws: &mut ParamErrors) -> SettingsChange {
        let mut change = SettingsChange::default();
        $(if let Some(given) = raw.get(stringify!($name)) {
            match <$type as Param>::read(given) {
                Ok(value) => change.$name = value,
                Err(inner) => flaws.add_under(stringify!($name), inner),
            }
        })*
        change
    }

    fn describe_settings() -> Vec<ParamDoc> {
        documented(&[$(ParamField {
            name: stringify!($name),
            required: false,
            schema: <$type as Param>::schema,
            text: &[],
        }),*])
    }
} }
org::each_project_setting!(setting_params);

impl Params for ProjectParams {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        let mut flaws = ParamErrors::default();
        let own = <OwnParams as Params>::read(raw);
        if let Err(inner) = &own {
            flaws.add_under("", inner.clone());
        }
        let settings = read_settings(raw, &mut flaws);
        for (name, value) in raw.iter() {
            let shown_to_all = matches!(value, crate::extract::Raw::Text(text) if text == "public");
            if shown_to_all && name.ends_with("_access_level") && name != "pages_access_level" {
                flaws.add(name, NOT_LISTED);
            }
        }
        match own {
            Ok(own) if flaws.is_empty() => Ok(Self { own, settings }),
            _ => Err(flaws),
        }
    }

    fn describe() -> Vec<ParamDoc> {
        let mut docs = OwnParams::describe();
        docs.extend(describe_settings());
        docs
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

params! {
    /// What only a new project is told.
    pub struct CreateOnly {
        namespace_id: Option<kernel::ids::NamespaceId>,
        initialize_with_readme: Option<bool>,
        import_url: Option<String>,
        template_name: Option<String>,
        template_project_id: Option<i64>,
    }
}

#[derive(Clone, Debug)]
pub struct CreateProject {
    pub only: CreateOnly,
    pub project: ProjectParams,
}

/// Reads two sets of parameters that came together.
pub(super) fn both<A: Params, B: Params>(raw: &RawMap) -> Result<(A, B), ParamErrors> {
    match (A::read(raw), B::read(raw)) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut flaws), Err(more)) => {
            flaws.add_under("", more);
            Err(flaws)
        }
        (Err(flaws), Ok(_)) | (Ok(_), Err(flaws)) => Err(flaws),
    }
}

impl Params for CreateProject {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        both(raw).map(|(project, only)| Self { only, project })
    }

    fn describe() -> Vec<ParamDoc> {
        let mut docs = ProjectParams::describe();
        docs.extend(CreateOnly::describe());
        docs
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn rules(raw: &RawMap) -> Option<String> {
        at_least_one(raw, &["name", "path"])
            .or_else(|| exclusive(raw, &["import_url", "template_name", "template_project_id"]))
    }
}

/// A new project for somebody else.
#[derive(Clone, Debug)]
pub struct CreateProjectFor {
    pub user_id: i64,
    pub create: CreateProject,
}

params! {
    struct ProjectOwner {
        user_id: i64,
        name: String,
    }
}

impl Params for CreateProjectFor {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        let (whom, mut create) = both::<ProjectOwner, CreateProject>(raw)?;
        create.project.own.name = Some(whom.name);
        Ok(Self { user_id: whom.user_id, create })
    }

    fn describe() -> Vec<ParamDoc> {
        let mut docs = ProjectOwner::describe();
        docs.extend(CreateProject::describe().into_iter().filter(|doc| doc.name != "name"));
        docs
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn rules(raw: &RawMap) -> Option<String> {
        exclusive(raw, &["import_url", "template_name", "template_project_id"])
    }
}

/// A change to a project: anything of it, but something.
#[derive(Clone, Debug)]
pub struct UpdateProject(pub ProjectParams);

impl Params for UpdateProject {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        ProjectParams::read(raw).map(Self)
    }

    fn describe() -> Vec<ParamDoc> {
        ProjectParams::describe()
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn rules(raw: &RawMap) -> Option<String> {
        let names: Vec<&str> = Self::describe().iter().map(|doc| doc.name).collect();
        at_least_one(raw, &names)
    }
}

/// The old switches know on and off; what is on keeps the reach it may already have.
fn level(access: Option<FeatureAccess>, switch: Option<bool>) -> Option<FeatureAccess> {
    access.or(switch.map(|on| if on { FeatureAccess::Enabled } else { FeatureAccess::Disabled }))
}

impl ProjectParams {
    /// The change they ask for, without the picture, which is a file.
    pub fn to_change(&self) -> ProjectChange {
        let own = &self.own;
        let mut settings = self.settings.clone();
        settings.public_jobs = settings.public_jobs.or(own.public_builds);
        settings.container_registry_access_level =
            level(settings.container_registry_access_level, own.container_registry_enabled);
        settings.container_expiration_policy =
            own.container_expiration_policy_attributes.as_ref().map(Into::into);
        ProjectChange {
            name: own.name.clone(),
            path: own.path.clone(),
            description: own.description.clone().into_update(),
            visibility: own.visibility,
            default_branch: own.default_branch.clone().filter(|branch| !branch.is_empty()),
            features: FeatureChange {
                repository: own.repository_access_level,
                issues: level(own.issues_access_level, own.issues_enabled),
                merge_requests: level(own.merge_requests_access_level, own.merge_requests_enabled),
                forking: own.forking_access_level,
                builds: level(own.builds_access_level, own.jobs_enabled),
                wiki: level(own.wiki_access_level, own.wiki_enabled),
                snippets: level(own.snippets_access_level, own.snippets_enabled),
            },
            topics: own.topics.as_ref().or(own.tag_list.as_ref()).map(|list| list.0.clone()),
            avatar: None,
            settings,
            repository_storage: own.repository_storage.clone(),
        }
    }
}

impl From<&PolicyParams> for ExpirationChange {
    fn from(given: &PolicyParams) -> Self {
        Self {
            cadence: given.cadence.clone(),
            enabled: given.enabled,
            keep_n: given.keep_n,
            older_than: given.older_than.clone(),
            name_regex: given.name_regex.clone(),
            name_regex_keep: given.name_regex_keep.clone(),
        }
    }
}
