//! Checks of the relations between jobs: stages, dependencies, needs, environments. The first problem ends them.

use std::collections::{HashMap, HashSet};

use super::{
    circle::components,
    entry::Need,
    node::Node,
    normalize::{Job, Jobs},
    yaml,
};

/// Stages with their places.
type StageOrder<'s> = HashMap<&'s str, usize, ahash::RandomState>;

/// The first relation that does not hold.
pub(super) fn check(jobs: &Jobs, stages: &[String]) -> Result<(), String> {
    let mut places: StageOrder<'_> = StageOrder::default();
    for (place, stage) in stages.iter().enumerate() {
        places.entry(stage).or_insert(place);
    }
    let relations = Relations { jobs, stages, places };
    let mut checked = HashSet::new();
    for job in jobs.values() {
        // What holds for one copy holds for all.
        if checked.insert(std::sync::Arc::as_ptr(&job.entry)) {
            relations.job(job)?;
        }
    }
    ensure_no_circle(jobs)
}

struct Relations<'r> {
    jobs: &'r Jobs,
    stages: &'r [String],
    places: StageOrder<'r>,
}

impl Relations<'_> {
    fn job(&self, job: &Job) -> Result<(), String> {
        self.stage(job)?;
        for dependency in job.dependencies.iter().flat_map(|names| names.iter()) {
            self.earlier(job, dependency, "dependency", false)?;
        }
        let all = job.needs.iter().chain(job.rule_needs.iter().flatten());
        for needs in all {
            self.needs(job, needs)?;
        }
        for dependency in included_jobs(job) {
            self.earlier(job, dependency, "dependency", false)?;
        }
        self.environment(job)
    }

    fn stage(&self, job: &Job) -> Result<(), String> {
        let stage = &job.entry.stage;
        if self.places.contains_key(stage.as_str()) {
            return Ok(());
        }
        let (name, stages) = (&job.name, self.stages.join(", "));
        Err(format!(
            "{name} job: chosen stage {stage} does not exist; available stages are {stages}"
        ))
    }

    fn needs(&self, job: &Job, needs: &[Need]) -> Result<(), String> {
        let (mut seen, mut twice) = (HashSet::new(), Vec::new());
        for need in needs {
            self.earlier(job, &need.name, "need", need.optional)?;
            if !seen.insert(&need.name) && !twice.contains(&need.name.as_str()) {
                twice.push(need.name.as_str());
            }
        }
        if twice.is_empty() {
            return Ok(());
        }
        Err(format!("{} has the following needs duplicated: {}.", job.name, twice.join(", ")))
    }

    /// Whether a job is there, and not in a later stage.
    fn earlier(&self, job: &Job, name: &str, kind: &str, optional: bool) -> Result<(), String> {
        let Some(other) = self.jobs.get(name) else {
            if optional {
                return Ok(());
            }
            return Err(format!("{} job: undefined {kind}: {name}", job.name));
        };
        let place = |job: &Job| self.places.get(job.entry.stage.as_str());
        if place(other).is_some_and(|other| place(job).is_some_and(|own| other <= own)) {
            return Ok(());
        }
        Err(format!("{} job: {kind} {name} is not defined in current or prior stages", job.name))
    }

    /// The job that stops an environment belongs to it.
    fn environment(&self, job: &Job) -> Result<(), String> {
        let Some(environment) = &job.entry.options.environment else { return Ok(()) };
        let Some(name) = &environment.on_stop else { return Ok(()) };
        let problem = |text: &str| Err(format!("{} job: on_stop job {name} {text}", job.name));
        let Some(stop) = self.jobs.get(name.as_str()) else { return problem("is not defined") };
        let Some(stopped) = &stop.entry.options.environment else {
            return problem("does not have environment defined");
        };
        if stopped.name != environment.name {
            return problem("have different environment name");
        }
        if stopped.action.as_deref() != Some("stop") {
            return problem("needs to have action stop defined");
        }
        Ok(())
    }
}

/// The jobs whose artifacts a child pipeline is made of.
fn included_jobs(job: &Job) -> Vec<&str> {
    let trigger = job.entry.options.trigger.as_ref();
    let Some(include) = trigger.and_then(|trigger| trigger.include.as_ref()) else {
        return Vec::new();
    };
    let items = include.as_array().map_or(std::slice::from_ref(include), Vec::as_slice);
    items.iter().filter_map(|item| item.get("job")?.as_str()).collect()
}

/// Jobs that wait for one another would wait for ever.
fn ensure_no_circle(jobs: &Jobs) -> Result<(), String> {
    let needed = |job: &Job| -> Vec<usize> {
        let needs = job.needs.iter().flat_map(|needs| needs.iter());
        needs.filter_map(|need| jobs.get_index_of(need.name.as_str())).collect()
    };
    let edges: Vec<Vec<usize>> = jobs.values().map(needed).collect();
    for part in components(&edges) {
        let names = part.iter().filter_map(|place| jobs.get_index(*place)).map(|(name, _)| name);
        let names: Vec<Node> = names.map(|name| Node::of_text(name)).collect();
        let on_itself = part.iter().find(|place| edges[**place].contains(place));
        if let Some((name, _)) = on_itself.and_then(|place| jobs.get_index(*place)) {
            return Err(format!("The pipeline has circular dependencies: self-dependency: {name}"));
        }
        if names.len() > 1 {
            let names = yaml::inline(&Node::of_list(names));
            return Err(format!(
                "The pipeline has circular dependencies: topological sort failed: {names}"
            ));
        }
    }
    Ok(())
}
