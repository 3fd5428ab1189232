//! Validation of a CI/CD configuration.

use std::sync::Arc;

use ci::{
    config::{Lint, LintJob, offered_variables as offered_in, templates},
    policy::CreatePipelines,
    report::group_name,
};
use entities::ci::ci_lint::IncludeEntity;
use forge::pipeline::lint::{LintRequest, Text};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use serde_json::Value as Json;

use super::located_project::{self, LocatedProject};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    projects::ProjectRecord,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .query()
        .lookup(
            "ciConfig",
            |_, arguments, context| async move { compile(&arguments, &context).await },
        )
        .once("ciConfig")
        .cost("ciConfig", 126)
        .none(&["ciMinutesUsage"]);
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("ciConfigVariables", |record: Arc<ProjectRecord>, arguments, context| async move {
            offered_variables(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("ciTemplate", |_: Arc<ProjectRecord>, arguments, _| async move {
            let name = arguments.text("name")?;
            let content = templates::find(name.trim_end_matches(".gitlab-ci.yml"));
            Ok(content.map_or(Value::Null, |content| {
                Value::fields("CiTemplate", [("content", content.into()), ("name", name.into())])
            }))
        });
    let _ = registry
        .object::<LintRecord>("CiConfig")
        .plain("errors", |record| record.lint.errors.clone().into())
        .plain("includes", |record| Value::list(record.includes.iter().map(include)))
        .plain("mergedYaml", |record| record.lint.merged_yaml.clone().into())
        .plain(
            "status",
            |record| {
                if record.lint.is_valid() { "VALID".into() } else { "INVALID".into() }
            },
        )
        .plain("warnings", |record| record.lint.warnings.clone().into())
        .lookup("stages", |record: Arc<LintRecord>, arguments, _| async move {
            let stages = by(&record.lint.jobs, |job| job.stage.as_str());
            let stages = stages.into_iter().map(|(name, jobs)| stage(name, &jobs)).collect();
            Ok(Connection::of_list(&arguments.page()?, stages).into())
        });
}

/// The result of validating a configuration.
#[derive(Debug)]
struct LintRecord {
    lint: Lint,
    includes: Vec<IncludeEntity>,
}

async fn compile(arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    let path = arguments.text("projectPath")?;
    let home = match located_project::at(context, path).await {
        Ok(home) => home,
        Err(Failure::NotFoundOrForbidden) => return Ok(Value::Null),
        Err(failure) => return Err(failure),
    };
    let Some(grant) = visible(home.grant::<CreatePipelines>())? else { return Ok(Value::Null) };
    let question = LintRequest {
        forge: context.forge.clone(),
        project: grant.facts().clone(),
        who: *grant.who(),
        text: Text::Given(arguments.text("content")?),
        dry_run: arguments.flag("dryRun"),
        ref_name: arguments.maybe_text("sha").filter(|sha| !sha.is_empty()),
    };
    let lint = question.answer().await.map_err(failure_of)?;
    let urls = &context.forge.urls;
    let includes = lint.includes.iter().map(|one| IncludeEntity::new(one, urls)).collect();
    Ok(Value::object("CiConfig", Arc::new(LintRecord { lint, includes })))
}

fn include(include: &IncludeEntity) -> Value {
    Value::fields(
        "CiConfigInclude",
        [
            ("blob", include.blob.clone().into()),
            ("contextProject", include.context_project.clone().into()),
            ("contextSha", include.context_sha.clone().into()),
            ("extra", Value::Json(include.extra.clone())),
            ("location", include.location.as_str().into()),
            ("raw", include.raw.clone().into()),
            ("type", include.kind.into()),
        ],
    )
}

/// Jobs by a name of each, in the order in which the names come first.
fn by<'j>(
    jobs: impl IntoIterator<Item = &'j LintJob>,
    name: impl Fn(&'j LintJob) -> &'j str,
) -> Vec<(&'j str, Vec<&'j LintJob>)> {
    let mut all: Vec<(&str, Vec<&LintJob>)> = Vec::new();
    for job in jobs {
        let name = name(job);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, jobs)) => jobs.push(job),
            None => all.push((name, vec![job])),
        }
    }
    all
}

fn whole(values: Vec<Value>) -> Value {
    Connection::of_list(&graphql::Page::beginning(), values).into()
}

fn stage(name: &str, jobs: &[&LintJob]) -> Value {
    let groups = by(jobs.iter().copied(), |job| group_name(&job.name));
    let groups = groups.into_iter().map(|(name, jobs)| group(name, &jobs)).collect();
    Value::fields("CiConfigStage", [("groups", whole(groups)), ("name", name.into())])
}

fn group(name: &str, jobs: &[&LintJob]) -> Value {
    let values = jobs.iter().map(|one| job(name, one)).collect();
    Value::fields(
        "CiConfigGroup",
        [("jobs", whole(values)), ("name", name.into()), ("size", jobs.len().into())],
    )
}

fn job(group: &str, job: &LintJob) -> Value {
    let needs = job.needs.iter().flatten();
    let needs =
        needs.map(|need| Value::fields("CiConfigNeed", [("name", need.name.as_str().into())]));
    Value::fields(
        "CiConfigJob",
        [
            ("afterScript", job.after_script.clone().into()),
            ("allowFailure", job.allow_failure.into()),
            ("beforeScript", job.before_script.clone().into()),
            ("environment", job.environment.clone().into()),
            ("except", restriction(job.except.as_ref())),
            ("groupName", group.into()),
            ("name", job.name.as_str().into()),
            ("needs", whole(needs.collect())),
            ("only", restriction(job.only.as_ref())),
            ("script", job.script.clone().into()),
            ("stage", job.stage.as_str().into()),
            ("tags", job.tag_list.clone().into()),
            ("when", job.when.as_str().into()),
        ],
    )
}

/// The branches and tags of `only` or `except`, which is a list of them or an object with one.
fn restriction(given: Option<&Json>) -> Value {
    let refs = match given {
        None | Some(Json::Null) => return Value::Null,
        Some(Json::Object(fields)) => fields.get("refs"),
        list => list,
    };
    let refs = refs
        .and_then(Json::as_array)
        .map(|refs| refs.iter().filter_map(Json::as_str).map(str::to_owned).collect::<Vec<_>>());
    Value::fields("CiConfigJobRestriction", [("refs", refs.into())])
}

/// The variables of the configuration that have a description, for people who run a pipeline by hand.
async fn offered_variables(
    home: &LocatedProject,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<CreatePipelines>())? else { return Ok(Value::Null) };
    let question = LintRequest {
        forge: context.forge.clone(),
        project: grant.facts().clone(),
        who: *grant.who(),
        text: Text::Committed(Some(arguments.text("sha")?)),
        dry_run: false,
        ref_name: None,
    };
    let Some(lint) = visible(question.answer().await)? else { return Ok(Value::Null) };
    let Some(yaml) = lint.merged_yaml else { return Ok(Value::Null) };
    let offered = offered_in(&yaml).into_iter().map(|one| {
        Value::fields(
            "CiConfigVariable",
            [
                ("description", one.description.into()),
                ("key", one.key.into()),
                ("value", one.value.into()),
                ("valueOptions", one.options.into()),
            ],
        )
    });
    Ok(Value::list(offered))
}
