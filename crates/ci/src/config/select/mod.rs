//! The selection of jobs for a pipeline, and how each of them runs.

mod known;
mod options;
mod policies;
mod workflow;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kernel::TextEnum as _;

use super::{
    Configuration, Refusal, StepFailure, duration,
    entry::{JobEntry, Need, Report, Rule, Values, VariableValue},
    evaluate::Evaluation,
    input::PipelineInput,
    merge::Budget,
    normalize::Job,
    options::{Cache, Options},
    plan::{Plan, PlannedEnvironment, PlannedJob, When, YamlVariable},
    variables::{Lookup, UnknownVariable, View, expand},
};

/// What one variable of one job costs, in letters.
const STEP: u64 = 32;

/// The plan for a sound configuration.
pub(super) fn select(
    configuration: &Configuration,
    given: &PipelineInput<'_>,
    report: &mut Report,
) -> Result<Plan, Refusal> {
    let mut lookup = Lookup::new(given.variables);
    let mut evaluation = Evaluation::new(given, given.tree, &mut report.patterns);
    let workflow = workflow::workflow(configuration, &lookup, &mut evaluation)?;
    let mut selection = Selection {
        configuration,
        given,
        globals: workflow.globals,
        evaluation,
        budget: Budget::new(),
        problems: Vec::new(),
        options: HashMap::default(),
    };
    let picked = selection.pick(&mut lookup)?;
    selection.ensure_needs(&picked);
    if !selection.problems.is_empty() {
        selection.problems.sort_by_key(|(place, _)| *place);
        let problems = selection.problems.into_iter().map(|(_, problem)| problem);
        return Err(Refusal::Unmet(problems.collect()));
    }
    selection.ensure_limits(&picked)?;
    let is_empty = picked.iter().all(|job| is_edge(&job.job.entry.stage));
    let mut plan = selection.plan(picked)?;
    if is_empty {
        return Err(Refusal::Empty(Box::new(plan)));
    }
    plan.name = workflow.name;
    plan.auto_cancel = workflow.auto_cancel;
    Ok(plan)
}

/// Stages that make no pipeline by themselves.
fn is_edge(stage: &str) -> bool {
    matches!(stage, ".pre" | ".post")
}

/// Variables that win first, then the others.
fn over(winning: &Values, others: &Values) -> Values {
    if winning.is_empty() {
        return others.clone();
    }
    let mut all = winning.clone();
    for (key, value) in others.iter() {
        if !all.contains_key(key) {
            all.insert(Arc::clone(key), value.clone());
        }
    }
    all
}

/// A job that is in the pipeline.
struct SelectedJob<'c> {
    /// Its place among all jobs of the configuration.
    place: usize,
    job: &'c Job,
    when: When,
    rule: Option<&'c Rule>,
    needs: Option<Arc<[Need]>>,
    variables: Values,
    tags: Option<Vec<String>>,
    environment: Option<PlannedEnvironment>,
    resource_group: Option<String>,
    /// Its caches, when variables are part of their keys.
    caches: Option<Vec<Cache>>,
}

struct Selection<'c, 'e> {
    configuration: &'c Configuration,
    given: &'e PipelineInput<'e>,
    globals: Values,
    evaluation: Evaluation<'e>,
    budget: Budget,
    /// Each with the place of its job.
    problems: Vec<(usize, String)>,
    /// Options made for a job before: its copies share them as far as they can.
    options: HashMap<*const JobEntry, Arc<Options>, ahash::RandomState>,
}

impl<'c> Selection<'c, '_> {
    fn pick(&mut self, lookup: &mut Lookup<'_>) -> Result<Vec<SelectedJob<'c>>, Refusal> {
        let mut picked = Vec::with_capacity(self.configuration.jobs.len());
        let jobs = self.configuration.by_stage().into_iter().flatten();
        for (place, job) in jobs.enumerate() {
            picked.extend(self.one(place, job, lookup)?);
        }
        Ok(picked)
    }

    fn one(
        &mut self,
        place: usize,
        job: &'c Job,
        lookup: &mut Lookup<'_>,
    ) -> Result<Option<SelectedJob<'c>>, Refusal> {
        let values = self.values(job);
        let slots = u64::try_from(values.len()).unwrap_or(u64::MAX);
        self.budget.take(STEP.saturating_mul(slots)).map_err(StepFailure::problem)?;
        let mut known = known::known(job);
        let environment = job.entry.options.environment.as_ref().map(|written| {
            let view = lookup.of(None, &values, &known);
            let name = expand(&written.name, &|name| view.get(name), UnknownVariable::Vanishes);
            PlannedEnvironment { name: name.into_owned(), written: written.clone() }
        });
        let scope = environment.as_ref().map(|environment| environment.name.as_str());
        lookup.add_environment(scope);
        if let Some(environment) = &environment {
            let identity = (self.given.environment)(&environment.name);
            known.extend(known::of_environment(environment, identity));
            let address = known::address(environment, lookup.of(scope, &values, &known));
            known.extend(address);
        }
        let view = lookup.of(scope, &values, &known);
        let Some((when, rule)) = self.fitting(place, job, view)? else { return Ok(None) };
        if let Some(problem) = lookup.circle(&values) {
            self.problems.push((place, format!("{}: {problem}", job.name)));
        }
        let written =
            |text: &String, unknown| expand(text, &|name| view.get(name), unknown).into_owned();
        let tags = job
            .entry
            .tags
            .as_ref()
            .map(|tags| tags.iter().map(|tag| written(tag, UnknownVariable::Stays)).collect());
        let group = job.entry.resource_group.as_ref();
        let resource_group = group.map(|group| written(group, UnknownVariable::Vanishes));
        let prefix = |prefix: &String| written(prefix, UnknownVariable::Stays);
        let caches = self.caches_of_variables(&job.entry, &prefix)?;
        let index = rule.and_then(|rule| {
            job.entry.rules.as_ref()?.iter().position(|other| std::ptr::eq(other, rule))
        });
        let own = index.and_then(|index| job.rule_needs.get(index).cloned().flatten());
        let variables = match rule.and_then(|rule| rule.variables.as_ref()) {
            Some(winning) => over(winning, &values),
            None => values,
        };
        Ok(Some(SelectedJob {
            place,
            job,
            when,
            rule,
            needs: own.or_else(|| job.needs.clone()),
            variables,
            tags,
            environment,
            resource_group: resource_group.filter(|group| !group.is_empty()),
            caches,
        }))
    }

    /// The variables of the configuration that a job has, its own first.
    fn values(&self, job: &Job) -> Values {
        let mut values = over(&job.matrix, &job.entry.variables);
        for (key, value) in self.globals.iter() {
            if !values.contains_key(key) && job.entry.inheritance.takes(key) {
                values.insert(Arc::clone(key), value.clone());
            }
        }
        values
    }

    /// When the job runs, and the rule that says so; `None` when there is no such job in this pipeline.
    fn fitting(
        &mut self,
        place: usize,
        job: &'c Job,
        view: View<'_>,
    ) -> Result<Option<(When, Option<&'c Rule>)>, Refusal> {
        let entry = &*job.entry;
        let own = entry.when.as_deref().unwrap_or("on_success");
        let Some(rules) = &entry.rules else {
            let wanted = policies::fit(entry, self.given, &mut self.evaluation, view)?;
            return Ok(wanted.then(|| (When::find(own).unwrap_or(When::OnSuccess), None)));
        };
        let rule = match self.evaluation.first(rules, view) {
            Ok(rule) => rule,
            Err(StepFailure::Problem(problem)) => {
                let name = &job.name;
                let problem = format!("Failed to parse rule for {name}: {problem}");
                self.problems.push((place, problem));
                return Ok(None);
            }
            Err(stop) => return Err(stop.into()),
        };
        let Some(rule) = rule else { return Ok(None) };
        Ok(When::find(rule.when.as_deref().unwrap_or(own)).map(|when| (when, Some(rule))))
    }

    /// What a job needs has to be in the pipeline.
    fn ensure_needs(&mut self, picked: &[SelectedJob<'_>]) {
        let names: HashSet<&str, ahash::RandomState> =
            picked.iter().map(|job| &*job.job.name).collect();
        for job in picked {
            let Some(needs) = &job.needs else { continue };
            let (name, most) = (&job.job.name, self.given.limits.needs);
            if needs.len() > most {
                let problem = format!(
                    "{name}: one job can only need {most} others, but you have listed {}. See needs keyword documentation for more details",
                    needs.len()
                );
                self.problems.push((job.place, problem));
                continue;
            }
            let is_missing = |need: &&Need| !need.optional && !names.contains(need.name.as_str());
            let missing = needs.iter().filter(is_missing);
            self.problems.extend(missing.map(|need| (job.place, absent(name, &need.name))));
        }
    }

    fn ensure_limits(&self, picked: &[SelectedJob<'_>]) -> Result<(), Refusal> {
        let limits = &self.given.limits;
        let deployments = picked.iter().filter(|job| job.environment.is_some()).count();
        let (reason, sentence) = match (limits.jobs, limits.free_jobs, limits.deployments) {
            (Some(most), ..) if picked.len() > most => (
                "size_limit_exceeded",
                format!(
                    "The number of jobs has exceeded the limit of {most}. Try splitting the configuration with parent-child-pipelines"
                ),
            ),
            (_, Some(free), _) if picked.len() > free => {
                return Err(Refusal::too_many_active_jobs());
            }
            (.., Some(most)) if deployments > most => (
                "deployments_limit_exceeded",
                format!(
                    "Pipeline has too many deployments! Requested {deployments}, but the limit is {most}."
                ),
            ),
            _ => return Ok(()),
        };
        Err(Refusal::OverLimit { reason, sentence })
    }

    fn plan(&mut self, picked: Vec<SelectedJob<'_>>) -> Result<Plan, Refusal> {
        let (mut stages, mut jobs): (Vec<String>, _) =
            (Vec::new(), Vec::with_capacity(picked.len()));
        for picked in picked {
            let stage = &picked.job.entry.stage;
            if stages.last() != Some(stage) {
                stages.push(stage.clone());
            }
            jobs.push(self.planned(picked, stages.len() - 1)?);
        }
        Ok(Plan { stages, jobs, ..Plan::default() })
    }

    fn planned(&mut self, picked: SelectedJob<'_>, stage: usize) -> Result<PlannedJob, Refusal> {
        let entry = &picked.job.entry;
        let options = self.options(&picked)?;
        let allowed = picked.rule.and_then(|rule| rule.allow_failure);
        let interruptible = picked.rule.and_then(|rule| rule.interruptible);
        let start_in = options.start_in.as_deref().and_then(duration::seconds);
        Ok(PlannedJob {
            name: Arc::clone(&picked.job.name),
            kind: entry.kind,
            stage,
            when: picked.when,
            start_in: start_in.filter(|_| picked.when == When::Delayed),
            allow_failure: allowed.unwrap_or_else(|| entry.is_ignored()),
            needs: picked.needs,
            tags: picked.tags,
            environment: picked.environment,
            interruptible: interruptible.or(entry.interruptible),
            variables: picked.variables.into_iter().map(yaml_variable).collect(),
            resource_group: picked.resource_group,
            coverage: entry.coverage.clone(),
            options,
        })
    }
}

/// The sentence about a job that is needed and not there.
fn absent(name: &str, need: &str) -> String {
    format!(
        "'{name}' job needs '{need}' job, but '{need}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional."
    )
}

fn yaml_variable((key, value): (Arc<str>, VariableValue)) -> YamlVariable {
    YamlVariable { key, value: value.text, raw: value.raw }
}
