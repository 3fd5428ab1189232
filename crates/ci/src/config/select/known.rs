//! The properties of a job that are known before it is created.

use std::borrow::Cow;

use crate::config::{
    entry::Values,
    input::EnvironmentIdentity,
    normalize::Job,
    plan::PlannedEnvironment,
    variables::{self, Lookup, UnknownVariable, View},
};

/// What follows from a job and its variables: where it deploys to, and what is known of it.
pub(super) struct JobFacts<'j> {
    pub(super) environment: Option<PlannedEnvironment>,
    known: Vec<(&'static str, Cow<'j, str>)>,
}

impl<'j> JobFacts<'j> {
    pub(super) fn of(
        job: &'j Job,
        values: &Values,
        lookup: &mut Lookup<'_>,
        identity: fn(&str) -> EnvironmentIdentity,
    ) -> Self {
        let mut known = known(job);
        let Some(written) = &job.entry.options.environment else {
            return Self { environment: None, known };
        };
        let view = lookup.of(None, values, &known);
        let name = view.expand(&written.name, UnknownVariable::Vanishes).into_owned();
        let environment = PlannedEnvironment { name, written: written.clone() };
        let scope = Some(environment.name.as_str());
        lookup.add_environment(scope);
        known.extend(of_environment(&environment, identity(&environment.name)));
        let address = address(&environment, lookup.of(scope, values, &known));
        known.extend(address);
        Self { environment: Some(environment), known }
    }

    /// The name of the environment, by which variables are chosen.
    pub(super) fn scope(&self) -> Option<&str> {
        self.environment.as_ref().map(|environment| environment.name.as_str())
    }

    pub(super) fn view<'l>(&'l self, lookup: &'l Lookup<'_>, values: &'l Values) -> View<'l> {
        lookup.of(self.scope(), values, &self.known)
    }
}

/// By name; the configuration may set each of them otherwise.
fn known(job: &Job) -> Vec<(&'static str, Cow<'_, str>)> {
    let entry = &job.entry;
    let total = entry.options.parallel.as_ref().map(|parallel| parallel.total.to_string());
    let mut known = vec![
        ("CI_JOB_NAME", Cow::Borrowed(&*job.name)),
        ("CI_JOB_NAME_SLUG", Cow::Owned(variables::slug(&job.name))),
        ("CI_JOB_GROUP_NAME", Cow::Borrowed(&*entry.name)),
        ("CI_JOB_STAGE", Cow::Borrowed(entry.stage.as_str())),
        ("CI_NODE_TOTAL", total.map_or(Cow::Borrowed("1"), Cow::Owned)),
    ];
    if let Some(instance) = job.instance {
        known.push(("CI_NODE_INDEX", Cow::Owned(instance.to_string())));
    }
    if matches!(entry.when.as_deref(), Some("manual" | "delayed")) {
        known.push(("CI_JOB_MANUAL", Cow::Borrowed("true")));
    }
    if let Some(image) = &entry.options.image {
        known.push(("CI_JOB_IMAGE", Cow::Borrowed(image.name.as_str())));
    }
    known
}

/// What is known of the environment of a job, once its name is written out.
fn of_environment(
    environment: &PlannedEnvironment,
    identity: EnvironmentIdentity,
) -> [(&'static str, Cow<'static, str>); 4] {
    let written = &environment.written;
    let tier = written.deployment_tier.clone().unwrap_or(identity.tier);
    [
        ("CI_ENVIRONMENT_NAME", environment.name.clone()),
        ("CI_ENVIRONMENT_SLUG", identity.slug),
        ("CI_ENVIRONMENT_TIER", tier),
        ("CI_ENVIRONMENT_ACTION", written.action.as_deref().unwrap_or("start").to_owned()),
    ]
    .map(|(name, value)| (name, Cow::Owned(value)))
}

/// The address of an environment with all that is known of it.
fn address(
    environment: &PlannedEnvironment,
    view: View<'_>,
) -> Option<(&'static str, Cow<'static, str>)> {
    let url = environment.written.url.as_ref()?;
    let url = view.expand(url, UnknownVariable::Vanishes);
    Some(("CI_ENVIRONMENT_URL", Cow::Owned(url.into_owned())))
}
