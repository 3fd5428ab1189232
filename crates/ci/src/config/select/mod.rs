//! The selection of jobs for a pipeline, and how each of them runs.

mod known;
mod options;
mod policies;
mod workflow;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kernel::{TextEnum as _, values::length_fault};

use super::{
    Configuration, Refusal, StepFailure, duration,
    entry::{JobEntry, Need, Report, Rule, Values, VariableValue},
    evaluate::Evaluation,
    input::PipelineInput,
    merge::Budget,
    normalize::Job,
    options::{Cache, Options},
    plan::{Plan, PlannedEnvironment, PlannedJob, When, YamlVariable},
    variables::{Lookup, UnknownVariable, View},
};
use known::JobFacts;

/// What one variable of one job costs, in letters.
const STEP: usize = 32;

/// Letters of a tag, and of the key of a resource group.
const LONGEST: usize = 255;

/// The plan for a sound configuration.
pub(super) fn select(
    configuration: &Configuration,
    given: &PipelineInput<'_>,
    report: &mut Report,
) -> Result<Plan, Refusal> {
    let mut lookup = Lookup::new(given.variables);
    let mut evaluation = Evaluation::new(given, given.tree, &mut report.patterns);
    let workflow = workflow::workflow(configuration, &lookup, &mut evaluation);
    if lookup.is_exhausted() {
        return Err(StepFailure::too_big().into());
    }
    let workflow = workflow?;
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

/// What variables may stand in.
struct JobTexts {
    tags: Option<Vec<String>>,
    resource_group: Option<String>,
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
            let one = self.one(place, job, lookup);
            if lookup.is_exhausted() {
                return Err(StepFailure::too_big().into());
            }
            picked.extend(one?);
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
        self.take_slots(values.len())?;
        let facts = JobFacts::of(job, &values, lookup, self.given.environment);
        let view = facts.view(lookup, &values);
        let Some((when, rule)) = self.fitting(place, job, view)? else { return Ok(None) };
        // What the rule sets may stand in the name of the environment, and in all that follows from it.
        let (variables, facts) = match rule.and_then(|rule| rule.variables.as_ref()) {
            Some(winning) => {
                let values = over(winning, &values);
                self.take_slots(values.len())?;
                let facts = JobFacts::of(job, &values, lookup, self.given.environment);
                (values, facts)
            }
            None => (values, facts),
        };
        if let Some(problem) = lookup.circle(facts.scope(), &variables) {
            self.problems.push((place, format!("{}: {problem}", job.name)));
        }
        let view = facts.view(lookup, &variables);
        let JobTexts { tags, resource_group, caches } = self.texts(place, job, view)?;
        Ok(Some(SelectedJob {
            place,
            job,
            when,
            rule,
            needs: needs(job, rule),
            variables,
            tags,
            environment: facts.environment,
            resource_group,
            caches,
        }))
    }

    /// The texts of a job as its variables make them. Each copy of a job pays for its own.
    fn texts(&mut self, place: usize, job: &Job, view: View<'_>) -> Result<JobTexts, StepFailure> {
        let entry = &*job.entry;
        let stays = |text: &String| view.expand(text, UnknownVariable::Stays).into_owned();
        let tags: Option<Vec<String>> =
            entry.tags.as_ref().map(|tags| tags.iter().map(stays).collect());
        let group = entry.resource_group.as_ref();
        let resource_group = group
            .map(|group| view.expand(group, UnknownVariable::Vanishes).into_owned())
            .filter(|group| !group.is_empty());
        let caches = self.caches_of_variables(entry, &stays)?;
        let keys = caches.iter().flatten().map(|cache| &cache.key);
        let all = tags.iter().flatten().chain(&resource_group).chain(keys);
        self.take(all.map(String::len).sum())?;
        let long = |what: &str, text: &String| {
            length_fault(text, LONGEST).map(|fault| format!("{}: {what} {fault}", job.name))
        };
        let tag = tags.iter().flatten().find_map(|tag| long("tag", tag));
        let group = resource_group.as_ref().and_then(|group| long("resource group", group));
        self.problems.extend(tag.into_iter().chain(group).map(|problem| (place, problem)));
        Ok(JobTexts { tags, resource_group, caches })
    }

    /// Pays for so many variables.
    fn take_slots(&mut self, slots: usize) -> Result<(), StepFailure> {
        self.take(slots.saturating_mul(STEP))
    }

    fn take(&mut self, letters: usize) -> Result<(), StepFailure> {
        let letters = u64::try_from(letters).unwrap_or(u64::MAX);
        self.budget.take(letters).map_err(StepFailure::problem)
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
            instance: picked.job.instance,
            options,
        })
    }
}

/// What a job needs: its rule may say that for it.
fn needs(job: &Job, rule: Option<&Rule>) -> Option<Arc<[Need]>> {
    let index = rule.and_then(|rule| {
        job.entry.rules.as_ref()?.iter().position(|other| std::ptr::eq(other, rule))
    });
    let own = index.and_then(|index| job.rule_needs.get(index).cloned().flatten());
    own.or_else(|| job.needs.clone())
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
