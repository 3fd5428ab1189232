//! Validation of a configuration without creating a pipeline.

use serde_json::Value;

use super::{
    Include, Need, ParseResult, Plan, PlannedJob, Refusal,
    entry::{JobEntry, Report},
    expression::pattern::Patterns,
    input::PipelineInput,
    json, plain, select, yaml,
};
use crate::job::SpecText;
use kernel::{Result, TextEnum as _};

const MOST_WARNINGS: usize = 25;

#[derive(Clone, Debug, Default)]
pub struct Lint {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// Everything in one document, when it could be put together.
    pub merged_yaml: Option<String>,
    pub includes: Vec<Include>,
    pub jobs: Vec<LintJob>,
}

impl Lint {
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LintJob {
    pub name: String,
    pub stage: String,
    pub before_script: Vec<String>,
    pub script: Vec<String>,
    pub after_script: Vec<String>,
    pub tag_list: Vec<String>,
    pub environment: Option<String>,
    pub when: String,
    pub allow_failure: bool,
    /// As written or by default; only without a dry run, as all that follows.
    pub only: Option<Value>,
    pub except: Option<Value>,
    pub needs: Option<Vec<Need>>,
}

/// All problems of the configuration itself, and all of its jobs whatever their rules.
pub fn lint(text: &str, given: &PipelineInput<'_>) -> Result<Lint> {
    let mut report = Report::with(Patterns::until(given.deadline));
    let reading = ParseResult::of(text, given, &mut report);
    let mut lint = begun(&reading, &report);
    match reading.outcome {
        Ok(configuration) => {
            let jobs = configuration.by_stage().into_iter().flatten();
            lint.jobs = jobs.map(|job| of_entry(job, &job.entry)).collect();
        }
        Err(Refusal::Fault(error)) => return Err(error),
        Err(Refusal::Invalid(problems)) => lint.errors = problems,
        Err(refusal) => lint.errors = vec![refusal.sentence()],
    }
    Ok(lint)
}

/// What a push would make of it: the first problem, and the jobs that there would be.
pub fn dry_run(text: &str, given: &PipelineInput<'_>) -> Result<Lint> {
    let mut report = Report::with(Patterns::until(given.deadline));
    let reading = ParseResult::of(text, given, &mut report);
    let mut lint = begun(&reading, &report);
    let plan = reading
        .outcome
        .and_then(|configuration| select::select(&configuration, given, &mut report));
    match storable(plan) {
        Ok(plan) => lint.jobs = plan.jobs.iter().map(|job| of_plan(&plan, job)).collect(),
        Err(Refusal::Fault(error)) => return Err(error),
        Err(refusal) => lint.errors = vec![plain(&refusal.sentence())],
    }
    Ok(lint)
}

/// Refuses jobs that are too large to be stored. As where a pipeline is made, that is said first of a plan that has
/// only jobs of the stages at the ends.
fn storable(plan: Result<Plan, Refusal>) -> Result<Plan, Refusal> {
    let planned = match &plan {
        Ok(plan) => Some(plan),
        Err(Refusal::Empty(plan)) => Some(plan.as_ref()),
        Err(_) => None,
    };
    // One after the other: together they may take a lot of memory.
    for job in planned.into_iter().flat_map(|plan| &plan.jobs) {
        SpecText::for_storage(job)?;
    }
    plan
}

fn begun(reading: &ParseResult, report: &Report) -> Lint {
    Lint {
        warnings: report.warnings.iter().take(MOST_WARNINGS).cloned().collect(),
        merged_yaml: reading.merged.as_ref().map(yaml::emit),
        includes: reading.includes.clone(),
        ..Lint::default()
    }
}

fn of_entry(job: &super::Job, entry: &JobEntry) -> LintJob {
    let options = &entry.options;
    LintJob {
        name: job.name.to_string(),
        stage: entry.stage.clone(),
        before_script: options.before_script.clone().unwrap_or_default(),
        script: options.script.clone().unwrap_or_default(),
        after_script: options.after_script.clone().unwrap_or_default(),
        tag_list: entry.tags.clone().unwrap_or_default(),
        environment: options.environment.as_ref().map(|environment| environment.name.clone()),
        when: entry.when.clone().unwrap_or_else(|| "on_success".to_owned()),
        allow_failure: entry.is_ignored(),
        only: entry.only.as_ref().map(|policy| json::value(&policy.written)),
        except: entry.except.as_ref().map(|policy| json::value(&policy.written)),
        needs: job.needs.as_ref().map(|needs| needs.to_vec()),
    }
}

fn of_plan(plan: &Plan, job: &PlannedJob) -> LintJob {
    let options = &job.options;
    LintJob {
        name: job.name.to_string(),
        stage: plan.stages.get(job.stage).cloned().unwrap_or_default(),
        before_script: options.before_script.clone().unwrap_or_default(),
        script: options.script.clone().unwrap_or_default(),
        after_script: options.after_script.clone().unwrap_or_default(),
        tag_list: job.tags.clone().unwrap_or_default(),
        environment: options.environment.as_ref().map(|environment| environment.name.clone()),
        when: job.when.as_str().to_owned(),
        allow_failure: job.allow_failure,
        ..LintJob::default()
    }
}
