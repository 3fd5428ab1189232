//! The result of validating a CI/CD configuration.

use ci::config::{Include, IncludeKind, Lint, LintJob, Need};
use forge::urls::Urls;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Result of checking a project's CI configuration.
#[derive(Debug, Serialize, ToSchema)]
pub struct LintEntity {
    pub valid: bool,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// The configuration with all includes merged; null when an include cannot be read.
    pub merged_yaml: Option<String>,
    pub includes: Vec<IncludeEntity>,
    /// Present when `include_jobs` is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<LintJobEntity>>,
}

impl LintEntity {
    pub fn new(lint: Lint, urls: &Urls, with_jobs: bool) -> Self {
        Self {
            valid: lint.is_valid(),
            errors: lint.errors,
            warnings: lint.warnings,
            merged_yaml: lint.merged_yaml,
            includes: included(&lint.includes, urls),
            jobs: with_jobs.then(|| lint.jobs.into_iter().map(LintJobEntity::from).collect()),
        }
    }
}

/// Result of checking a CI configuration outside of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct TextLintEntity {
    /// `valid` or `invalid`.
    pub status: &'static str,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    pub includes: Vec<IncludeEntity>,
    /// Present when `include_merged_yaml` is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_yaml: Option<String>,
    /// Present when `include_jobs` is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<LintJobEntity>>,
}

impl TextLintEntity {
    pub fn new(lint: Lint, urls: &Urls, with_yaml: bool, with_jobs: bool) -> Self {
        Self {
            status: if lint.is_valid() { "valid" } else { "invalid" },
            errors: lint.errors,
            warnings: lint.warnings,
            includes: included(&lint.includes, urls),
            merged_yaml: lint.merged_yaml.filter(|_| with_yaml),
            jobs: with_jobs.then(|| lint.jobs.into_iter().map(LintJobEntity::from).collect()),
        }
    }
}

/// A file included by a CI configuration.
#[derive(Debug, Serialize, ToSchema)]
pub struct IncludeEntity {
    /// `local`, `file` (of another project), `remote`, `template` or `artifact`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub location: String,
    /// URL of the file's page.
    pub blob: Option<String>,
    /// URL of the file's raw content.
    pub raw: Option<String>,
    #[schema(value_type = Object)]
    pub extra: Value,
    pub context_project: Option<String>,
    pub context_sha: Option<String>,
}

fn included(includes: &[Include], urls: &Urls) -> Vec<IncludeEntity> {
    includes.iter().map(|include| IncludeEntity::new(include, urls)).collect()
}

impl IncludeEntity {
    pub fn new(include: &Include, urls: &Urls) -> Self {
        let page = |kind: &str| {
            let (project, sha) = include.at.as_ref()?;
            let path = &include.location;
            (!sha.is_empty()).then(|| urls.at(&format!("{project}/-/{kind}/{sha}/{path}")))
        };
        let raw = match include.kind {
            IncludeKind::Remote => Some(include.location.clone()),
            _ => page("raw"),
        };
        let extra = match &include.extra {
            None => json!({}),
            Some((project, reference)) => json!({ "project": project, "ref": reference }),
        };
        let (project, sha) = &include.context;
        let filled = |text: &String| (!text.is_empty()).then(|| text.clone());
        Self {
            kind: kind(include.kind),
            location: include.location.clone(),
            blob: page("blob"),
            raw,
            extra,
            context_project: filled(project),
            context_sha: filled(sha),
        }
    }
}

fn kind(kind: IncludeKind) -> &'static str {
    match kind {
        IncludeKind::Local => "local",
        IncludeKind::File => "file",
        IncludeKind::Remote => "remote",
        IncludeKind::Template => "template",
        IncludeKind::Artifact => "artifact",
    }
}

/// A job defined by the configuration.
#[derive(Debug, Serialize, ToSchema)]
pub struct LintJobEntity {
    pub name: String,
    pub stage: String,
    pub before_script: Vec<String>,
    pub script: Vec<String>,
    pub after_script: Vec<String>,
    pub tag_list: Vec<String>,
    pub environment: Option<String>,
    pub when: String,
    pub allow_failure: bool,
    #[schema(value_type = Object)]
    pub only: Option<Value>,
    #[schema(value_type = Object)]
    pub except: Option<Value>,
    pub needs: Option<Vec<NeedEntity>>,
}

impl From<LintJob> for LintJobEntity {
    fn from(job: LintJob) -> Self {
        Self {
            name: job.name,
            stage: job.stage,
            before_script: job.before_script,
            script: job.script,
            after_script: job.after_script,
            tag_list: job.tag_list,
            environment: job.environment,
            when: job.when,
            allow_failure: job.allow_failure,
            only: job.only,
            except: job.except,
            needs: job.needs.map(|needs| needs.into_iter().map(NeedEntity::from).collect()),
        }
    }
}

/// A job that must finish first.
#[derive(Debug, Serialize, ToSchema)]
pub struct NeedEntity {
    pub name: String,
    /// Whether the job's artifacts are downloaded.
    pub artifacts: bool,
    pub optional: bool,
}

impl From<Need> for NeedEntity {
    fn from(need: Need) -> Self {
        Self { name: need.name, artifacts: need.artifacts, optional: need.optional }
    }
}
