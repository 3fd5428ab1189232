//! The language of `.gitlab-ci.yml`: from a text to a plan of jobs, or to what is wrong with it.
//!
//! Nothing here knows a database, HTTP or git; files of commits and what lies elsewhere are asked for through
//! [`Tree`](input::Tree) and [`Fetch`](input::Fetch). The order of work, each step ending at its first problem:
//!
//! ```text
//! text ── yaml ── include ── extend ── reference ── entry ── normalize ── relations ── select ── Plan
//!         values  other      extends   !reference   types;   copies of    between      rules for
//!                 files                             all their parallel    jobs         this ref
//!                                                   problems jobs
//! ```

mod circle;
pub mod duration;
mod entry;
mod evaluate;
mod expression;
mod extend;
mod glob;
mod include;
mod includes;
pub mod input;
mod json;
mod lint;
mod merge;
mod node;
mod normalize;
pub mod options;
mod ordered_map;
mod plan;
mod prefilled_variables;
mod reference;
mod refusal;
mod relations;
mod select;
pub mod templates;
pub mod variables;
mod yaml;

pub use entry::{Kind, Need, is_environment_name};
pub use includes::{Include, IncludeKind};
pub use lint::{Lint, LintJob, dry_run, lint};
pub use plan::{AutoCancel, Plan, PlannedEnvironment, PlannedJob, When, YamlVariable};
pub use prefilled_variables::{OfferedVariable, offered_variables};
pub use refusal::{Refusal, plain};

use entry::{Report, Values, Workflow};
use expression::pattern::Patterns;
use input::PipelineInput;
use merge::Budget;
use node::{Entries, Key, Map, Node};
use normalize::{Job, Jobs};
use refusal::StepFailure;

/// What there is to do for a pipeline, or why there is nothing.
pub fn compile(text: &str, given: &PipelineInput<'_>) -> Result<Plan, Refusal> {
    let mut report = Report::with(Patterns::until(given.deadline));
    let reading = ParseResult::of(text, given, &mut report);
    let configuration = reading.outcome?;
    let plan = select::select(&configuration, given, &mut report)?;
    ensure_in_time(&report)?;
    Ok(Plan { includes: reading.includes, warnings: report.warnings, ..plan })
}

/// A configuration that is sound by itself, before it is known what it is run for.
struct Configuration {
    /// With the two that every pipeline has at its ends.
    stages: Vec<String>,
    variables: Values,
    workflow: Workflow,
    jobs: Jobs,
}

impl Configuration {
    /// The jobs of each stage, stages in their order.
    fn by_stage(&self) -> Vec<Vec<&Job>> {
        let mut stages: indexmap::IndexMap<&str, Vec<&Job>> =
            self.stages.iter().map(|stage| (stage.as_str(), Vec::new())).collect();
        for job in self.jobs.values() {
            stages.entry(&job.entry.stage).or_default().push(job);
        }
        stages.into_values().collect()
    }
}

/// The result of parsing a configuration.
struct ParseResult {
    /// With everything included, extended and referred to; `None` when it did not come to that.
    merged: Option<Map>,
    includes: Vec<Include>,
    outcome: Result<Configuration, Refusal>,
}

impl ParseResult {
    fn of(text: &str, given: &PipelineInput<'_>, report: &mut Report) -> Self {
        let mut budget = Budget::new();
        let (document, includes) = match gathered(text, given, report, &mut budget) {
            Ok(gathered) => gathered,
            Err(stop) => {
                return Self { merged: None, includes: Vec::new(), outcome: Err(stop.invalid()) };
            }
        };
        let resolved = extend::extend(&document, &mut budget)
            .and_then(|document| reference::resolve(&document, &mut budget))
            .map(|document| with_edge_stages(&document));
        match resolved {
            Ok(document) => {
                let outcome = checked(&document, report, &mut budget);
                Self { merged: Some(document), includes, outcome }
            }
            Err(problem) => {
                let outcome = Err(StepFailure::problem(problem).invalid());
                Self { merged: None, includes, outcome }
            }
        }
    }
}

/// The document with all files that it includes.
fn gathered(
    text: &str,
    given: &PipelineInput<'_>,
    report: &mut Report,
    budget: &mut Budget,
) -> Result<(Map, Vec<Include>), StepFailure> {
    if text.trim().is_empty() {
        return Err(StepFailure::problem("Please provide content of .gitlab-ci.yml"));
    }
    let node = yaml::parse_within(&given.limits, text)
        .map_err(|fault| StepFailure::problem(fault.to_string()))?;
    let Some(Node::Map(document)) = node else {
        return Err(StepFailure::problem("Invalid configuration format"));
    };
    include::include(&document, given, report, budget)
}

/// The parts of a document, when each is sound and they fit together.
fn checked(
    document: &Map,
    report: &mut Report,
    budget: &mut Budget,
) -> Result<Configuration, Refusal> {
    let root = entry::root(report, document);
    ensure_in_time(report)?;
    if !report.problems.is_empty() {
        return Err(Refusal::Invalid(std::mem::take(&mut report.problems)));
    }
    let jobs = normalize::normalize(root.jobs, budget).map_err(StepFailure::invalid)?;
    relations::check(&jobs, &root.stages)
        .map_err(|problem| StepFailure::problem(problem).invalid())?;
    Ok(Configuration {
        stages: root.stages,
        variables: root.variables,
        workflow: root.workflow,
        jobs,
    })
}

/// When the time was over, patterns were taken for broken that are not.
fn ensure_in_time(report: &Report) -> Result<(), Refusal> {
    if report.patterns.is_expired() {
        return Err(StepFailure::late().invalid());
    }
    Ok(())
}

/// The two stages that every pipeline has, at its ends, wherever else they stand.
fn with_edge_stages(document: &Map) -> Map {
    const FIRST: &str = ".pre";
    const LAST: &str = ".post";
    let default = || entry::DEFAULT_STAGES.map(Node::of_text).to_vec();
    let named = match document.present("stages") {
        None => default(),
        Some(Node::List(list)) => list.items().to_vec(),
        Some(_) => return document.clone(),
    };
    let is_edge = |node: &Node| matches!(node.as_text(), Some(FIRST | LAST));
    let inner = named.into_iter().filter(|node| !is_edge(node));
    let stages = std::iter::once(Node::of_text(FIRST))
        .chain(inner)
        .chain(std::iter::once(Node::of_text(LAST)))
        .collect();
    let mut entries: Entries = document.entries().clone();
    entries.insert(Key::text("stages".into()), Node::of_list(stages));
    Map::new(entries)
}

/// A short word for a text.
fn digest(text: &str) -> String {
    use sha1::{Digest as _, Sha1};
    hex::encode(Sha1::digest(text))
}
