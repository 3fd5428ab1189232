//! The whole document: global keywords first, then the jobs.

use super::{
    Entry, JobEntry, Path, Report, Values, Workflow,
    default::{self, DefaultKeywords},
    jobs::{self, JobContext, Sort},
    script, variables, workflow,
};
use crate::config::node::{Key, Map, Node};

pub(crate) const DEFAULT_STAGES: [&str; 3] = ["build", "test", "deploy"];

/// Keywords that never name a job.
const RESERVED: &[&str] = &[
    "include",
    "before_script",
    "image",
    "services",
    "after_script",
    "variables",
    "stages",
    "cache",
];
/// Keywords that are jobs when they look like one.
const UNRESERVED: &[&str] = &["default", "workflow"];
/// Keywords of the top that `default` knows as well, in the order in which they are read.
const OLD_DEFAULTS: &[&str] = &["before_script", "image", "services", "after_script", "cache"];

/// A configuration of which each part is sound by itself.
pub(crate) struct Root {
    pub(crate) stages: Vec<String>,
    pub(crate) variables: Values,
    pub(crate) workflow: Workflow,
    pub(crate) jobs: Vec<JobEntry>,
}

pub(crate) fn root(report: &mut Report, document: &Map) -> Root {
    let is_job = |key: &Key, node: &Node| {
        if key.is_text() && UNRESERVED.contains(&key.as_str()) {
            return matches!(jobs::sort(key, node), Some(Sort::Visible(_)));
        }
        !(key.is_text() && RESERVED.contains(&key.as_str()))
    };
    let (job_entries, globals): (Vec<_>, Vec<_>) =
        document.iter().partition(|(key, node)| is_job(key, node));
    let globals =
        Map::new(globals.into_iter().map(|(key, node)| (key.clone(), node.clone())).collect());
    if let Some(key) = twice(&globals) {
        report.problems =
            vec![format!("default config {key} is defined in top-level and `default:` entry")];
        return Root::empty();
    }
    let default = globals
        .present("default")
        .and_then(|node| default::default(report, Entry { node, path: &Path::of("default") }));
    let mut default = default.unwrap_or_default();
    default.fill(&old_defaults(report, &globals), &super::Inheritance::All);
    let (variables, stages) = values_and_stages(report, &globals);
    let workflow = globals
        .present("workflow")
        .and_then(|node| workflow::workflow(report, Entry { node, path: &Path::of("workflow") }));
    let around = JobContext {
        default: &default,
        has_workflow_rules: globals
            .present("workflow")
            .and_then(Node::as_map)
            .is_some_and(|map| map.contains("rules")),
    };
    let jobs = jobs::jobs(report, &job_entries, &around);
    Root { stages, variables, workflow: workflow.unwrap_or_default(), jobs }
}

impl Root {
    fn empty() -> Self {
        Self {
            stages: Vec::new(),
            variables: Values::default(),
            workflow: Workflow::default(),
            jobs: Vec::new(),
        }
    }
}

/// A keyword that is given both ways.
fn twice(globals: &Map) -> Option<&'static str> {
    let default = globals.present("default")?.as_map()?;
    OLD_DEFAULTS
        .iter()
        .copied()
        .find(|key| globals.present(key).is_some() && default.present(key).is_some())
}

fn old_defaults(report: &mut Report, globals: &Map) -> DefaultKeywords {
    let mut read = DefaultKeywords::default();
    for key in OLD_DEFAULTS {
        let Some(node) = globals.present(key) else { continue };
        let path = Path::of(key);
        let entry = Entry { node, path: &path };
        match *key {
            "before_script" => read.before_script = script::script(report, entry),
            "after_script" => read.after_script = script::script(report, entry),
            "image" => read.image = super::image::image(report, entry),
            "services" => read.services = super::image::services(report, entry),
            _ => read.cache = super::cache::caches(report, entry),
        }
    }
    read
}

fn values_and_stages(report: &mut Report, globals: &Map) -> (Values, Vec<String>) {
    let values = globals.present("variables").and_then(|node| {
        let path = Path::of("variables");
        variables::variables(report, Entry { node, path: &path }, variables::GLOBAL)
    });
    let stages = match globals.present("stages") {
        None => DEFAULT_STAGES.map(str::to_owned).to_vec(),
        Some(node) => stages(report, node),
    };
    (values.unwrap_or_default(), stages)
}

fn stages(report: &mut Report, node: &Node) -> Vec<String> {
    let mut names = Vec::new();
    let flat = node.as_list().and_then(|items| {
        script::flatten(items, script::DEEPEST, &mut |item| {
            names.push(item.as_text()?.to_owned());
            Some(())
        })
    });
    if flat.is_none() {
        report.config(&Path::of("stages"), "should be an array of strings");
    }
    names
}
