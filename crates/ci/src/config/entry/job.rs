//! A job that a runner does, and what it shares with a bridge.

use std::sync::Arc;

use super::{
    AllowFailure, CacheEntry, Entry, Inheritance, JobEntry, Kind, Needs, Path, Policy, Report,
    Rule, Values,
    default::{self, DefaultKeywords, Part},
    environment,
    fields::Fields,
    inherit,
    jobs::JobContext,
    needs, parallel, policy, release, rules, variables,
};
use crate::config::{
    duration::LONGEST_DELAY,
    node::{Map, Node},
    options::{AllowFailureCriteria, Artifacts, Cache, Environment, Options},
};

pub(super) const COMMON_KEYS: &[&str] = &[
    "extends",
    "stage",
    "only",
    "except",
    "rules",
    "variables",
    "inherit",
    "allow_failure",
    "when",
    "needs",
    "resource_group",
    "environment",
    "interruptible",
];
const KEYS: &[&str] = &[
    "tags",
    "script",
    "image",
    "services",
    "start_in",
    "artifacts",
    "cache",
    "dependencies",
    "before_script",
    "after_script",
    "hooks",
    "coverage",
    "retry",
    "parallel",
    "timeout",
    "release",
    "id_tokens",
    "secrets",
    "dast_configuration",
    "publish",
];
const TIMES: &[&str] = &["on_success", "on_failure", "always", "manual", "delayed"];
const DEFAULT_STAGE: &str = "test";

pub(super) fn job(
    report: &mut Report,
    path: &Path<'_>,
    map: &Map,
    around: &JobContext<'_>,
) -> Option<JobEntry> {
    let mark = report.mark();
    let own = own(&mut Fields::of(report, path, map));
    if !report.is_clean_since(mark) {
        return None;
    }
    let common = Common::read(report, path, map, around);
    let mut shared = DefaultKeywords::read(report, path, map);
    let rest = JobOnlyFields::read(&mut Part { report, path, map });
    ensure_dependencies(report, path, own.dependencies.as_deref(), rest.needs.as_ref());
    if !report.is_clean_since(mark) {
        return None;
    }
    shared.fill(around.default, &common.inherit.default);
    publish_pages(path, &mut shared);
    Some(assemble(own, common, shared, rest))
}

/// Attributes that are validated with the job entry itself.
#[derive(Default)]
pub(super) struct OwnFields {
    pub(super) when: Option<String>,
    pub(super) resource_group: Option<String>,
    pub(super) dependencies: Option<Vec<String>>,
    pub(super) start_in: Option<String>,
    pub(super) publish: Option<String>,
}

fn own(fields: &mut Fields<'_, '_>) -> OwnFields {
    let resource_group = common_attributes(fields);
    fields.known_of(&[COMMON_KEYS, KEYS]);
    if fields.get("script").is_none_or(Node::is_blank) {
        fields.wrong("script", "can't be blank");
    }
    let when = fields.choice(
        "when",
        TIMES,
        "should be one of: on_success, on_failure, always, manual, delayed",
    );
    let dependencies = fields.texts("dependencies");
    let allowed = fields.get("allow_failure");
    if allowed.is_some_and(|node| node.as_map().is_none() && node.as_bool().is_none()) {
        fields.wrong("allow_failure", "should be a hash or a boolean value");
    }
    let start_in = start_in(fields, when.as_deref() == Some("delayed"));
    let publish = fields.text("publish");
    OwnFields { when, resource_group, dependencies, start_in, publish }
}

/// What a job and a bridge check alike; gives the resource group.
pub(super) fn common_attributes(fields: &mut Fields<'_, '_>) -> Option<String> {
    if fields.map.is_empty() {
        fields.report.config(fields.path, "can't be blank");
    }
    if fields.map.contains("script") && fields.map.contains("trigger") {
        let text = "these keys cannot be used together: script, trigger";
        fields.report.config(fields.path, text);
    }
    if fields.get("rules").is_some() {
        let refused: Vec<&str> = ["only", "except", "start_in"]
            .into_iter()
            .filter(|key| fields.get(key).is_some())
            .collect();
        if !refused.is_empty() {
            let text = format!("key may not be used with `rules`: {}", refused.join(", "));
            fields.report.config(fields.path, &text);
        }
    }
    fields.one_or_more_texts("extends");
    if fields.get("rules").is_some_and(|node| !rules::is_list(node)) {
        fields.wrong("rules", "should be an array containing hashes and arrays of hashes");
    }
    fields.text("resource_group")
}

fn start_in(fields: &mut Fields<'_, '_>, delayed: bool) -> Option<String> {
    let start_in = delayed.then(|| fields.duration("start_in", Some(LONGEST_DELAY))).flatten();
    let ruled = fields.get("rules").is_some();
    if (ruled || !delayed) && fields.get("start_in").is_some_and(|node| !node.is_blank()) {
        fields.wrong("start_in", "must be blank");
    }
    start_in
}

/// The parts that a job and a bridge share.
pub(super) struct Common {
    stage: Option<String>,
    only: Option<Policy>,
    except: Option<Policy>,
    rules: Option<Vec<Rule>>,
    variables: Values,
    pub(super) inherit: inherit::Inherit,
    environment: Option<Environment>,
}

impl Common {
    pub(super) fn read(
        report: &mut Report,
        path: &Path<'_>,
        map: &Map,
        around: &JobContext<'_>,
    ) -> Self {
        let mut part = Part { report, path, map };
        let stage = part.read("stage", default::stage);
        let only = part.read("only", policy::policy);
        let except = part.read("except", policy::policy);
        let rules = part.read("rules", rules::job_rules);
        let variables = part.read("variables", |report, entry| {
            variables::variables(report, entry, variables::OF_JOB)
        });
        let inherit = part.read("inherit", inherit::inherit).unwrap_or_default();
        let environment = part.read("environment", environment::environment);
        let ruled = map.contains("rules") || around.has_workflow_rules;
        let only = if only.is_none() && !ruled { Some(Policy::default_only()) } else { only };
        if !around.has_workflow_rules {
            warn_of_doubles(report, path, rules.as_deref());
        }
        Self {
            stage,
            only,
            except,
            rules,
            variables: variables.unwrap_or_default(),
            inherit,
            environment,
        }
    }

    pub(super) fn into_entry(self, kind: Kind, own: OwnFields, options: Options) -> JobEntry {
        JobEntry {
            name: "".into(),
            kind,
            stage: self.stage.unwrap_or_else(|| DEFAULT_STAGE.to_owned()),
            when: own.when,
            allow_failure: AllowFailure::default(),
            only: self.only,
            except: self.except,
            rules: self.rules,
            variables: self.variables,
            inheritance: self.inherit.variables,
            needs: None,
            tags: None,
            interruptible: None,
            resource_group: own.resource_group,
            coverage: None,
            unkeyed_caches: None,
            options: Arc::new(Options { environment: self.environment, ..options }),
        }
    }
}

/// A last rule that always fits makes a pipeline for the branch and one for its merge request.
fn warn_of_doubles(report: &mut Report, path: &Path<'_>, rules: Option<&[Rule]>) {
    let last = rules.and_then(<[Rule]>::last);
    if last.is_some_and(|rule| rule.is_bare && rule.when.as_deref() != Some("never")) {
        report.warn(
            path,
            "may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules` - read more: docs/ci.md#warnings",
        );
    }
}

/// Attributes that jobs have and bridges lack.
struct JobOnlyFields {
    needs: Option<Needs>,
    coverage: Option<String>,
    release: Option<serde_json::Value>,
    parallel: Option<crate::config::options::Parallel>,
    allow_failure: AllowFailure,
    secrets: Option<serde_json::Value>,
    dast_configuration: Option<serde_json::Value>,
}

impl JobOnlyFields {
    fn read(part: &mut Part<'_, '_>) -> Self {
        Self {
            needs: part
                .read("needs", |report, entry| needs::needs(report, entry, needs::NeedsOwner::Job)),
            coverage: part.read("coverage", default::coverage),
            release: part.read("release", release::release),
            parallel: part.read("parallel", |report, entry| {
                parallel::parallel(report, entry, parallel::ParallelForms::NumberOrMatrix)
            }),
            allow_failure: part.read("allow_failure", allow_failure).unwrap_or_default(),
            secrets: part.read("secrets", release::mapping),
            dast_configuration: part.read("dast_configuration", release::mapping),
        }
    }
}

fn allow_failure(report: &mut Report, entry: Entry<'_>) -> Option<AllowFailure> {
    let Some(map) = entry.node.as_map() else {
        return entry.node.as_bool().map(AllowFailure::Said);
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["exit_codes"]);
    let exit_codes = fields.numbers("exit_codes");
    let clean = fields.is_clean();
    exit_codes
        .filter(|_| clean)
        .map(|exit_codes| AllowFailure::Codes(AllowFailureCriteria { exit_codes }))
}

/// What is fetched from jobs has to be among the jobs that are waited for.
fn ensure_dependencies(
    report: &mut Report,
    path: &Path<'_>,
    dependencies: Option<&[String]>,
    needs: Option<&Needs>,
) {
    let (Some(dependencies), Some(needs)) = (dependencies, needs) else { return };
    if dependencies.is_empty() {
        return;
    }
    let Some(jobs) = &needs.jobs else {
        let text = "corresponding to dependencies must be from the same pipeline";
        report.attribute(path, "needs", text);
        return;
    };
    let needed: std::collections::HashSet<&str> =
        jobs.iter().map(|need| need.name.as_str()).collect();
    let missing: Vec<&str> = dependencies
        .iter()
        .map(String::as_str)
        .filter(|name| !jobs.is_empty() && !needed.contains(name))
        .collect();
    if !missing.is_empty() {
        let text = format!("the {} should be part of needs", missing.join(", "));
        report.attribute(path, "dependencies", &text);
    }
}

/// The job called `pages` always leaves its folder behind.
fn publish_pages(path: &Path<'_>, shared: &mut DefaultKeywords) {
    const FOLDER: &str = "public";
    if path.key != "pages" {
        return;
    }
    let artifacts = shared.artifacts.get_or_insert_with(Artifacts::default);
    let paths = artifacts.paths.get_or_insert_default();
    if !paths.iter().any(|path| path == FOLDER) {
        paths.push(FOLDER.to_owned());
    }
}

fn assemble(
    own: OwnFields,
    common: Common,
    shared: DefaultKeywords,
    rest: JobOnlyFields,
) -> JobEntry {
    let criteria = match &rest.allow_failure {
        AllowFailure::Codes(codes) => Some(codes.clone()),
        AllowFailure::Unsaid | AllowFailure::Said(_) => None,
    };
    let (cache, unkeyed_caches) = caches(shared.cache);
    let cross = rest.needs.as_ref().map(|needs| needs.cross.clone());
    let options = Options {
        image: shared.image,
        services: shared.services,
        allow_failure_criteria: criteria,
        artifacts: shared.artifacts,
        cache,
        dependencies: own.dependencies.clone(),
        cross_dependencies: cross.filter(|cross| !cross.is_empty()),
        job_timeout: shared.timeout,
        before_script: shared.before_script,
        script: shared.script,
        after_script: shared.after_script,
        hooks: shared.hooks,
        retry: shared.retry,
        parallel: rest.parallel,
        start_in: own.start_in.clone(),
        release: rest.release,
        publish: own.publish.clone(),
        id_tokens: shared.id_tokens,
        secrets: rest.secrets,
        dast_configuration: rest.dast_configuration,
        ..Options::default()
    };
    JobEntry {
        allow_failure: rest.allow_failure,
        needs: rest.needs,
        tags: shared.tags,
        interruptible: shared.interruptible,
        coverage: rest.coverage,
        unkeyed_caches,
        ..common.into_entry(Kind::Build, own, options)
    }
}

/// The caches of a job when their keys are known, and else those that wait for the commit.
fn caches(entries: Option<Vec<CacheEntry>>) -> (Option<Vec<Cache>>, Option<Vec<CacheEntry>>) {
    let Some(entries) = entries.filter(|entries| !entries.is_empty()) else { return (None, None) };
    if entries.iter().any(|entry| entry.key_files.is_some()) {
        return (None, Some(entries));
    }
    (Some(entries.into_iter().map(|entry| entry.cache).collect()), None)
}

/// What a bridge takes of the defaults: of them all only one keyword is known to it.
pub(super) fn interruptible(
    part: &mut Part<'_, '_>,
    default: &DefaultKeywords,
    inheritance: &Inheritance,
) -> Option<bool> {
    let own = part.read("interruptible", default::flag);
    own.or(default.interruptible.filter(|_| inheritance.takes("interruptible")))
}
