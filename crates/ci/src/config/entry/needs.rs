//! `needs`: the jobs that have to end before this one begins, wherever their stages are.

use super::{Entry, Path, Report, fields::Fields, script};
use crate::config::{
    node::{Map, Node},
    options::{BridgeNeed, CrossDependency},
};

const MOST_PIPELINES: usize = 5;

/// A job of the same pipeline.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Need {
    pub name: String,
    /// Whether its artifacts are fetched.
    pub artifacts: bool,
    /// Whether the pipeline may be without it.
    #[serde(default)]
    pub optional: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Needs {
    /// `None` when only other pipelines are needed.
    pub(crate) jobs: Option<Vec<Need>>,
    pub(crate) cross: Vec<CrossDependency>,
    pub(crate) bridges: Vec<BridgeNeed>,
}

/// The owner of `needs`: some kinds are for jobs or bridges only.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum NeedsOwner {
    Job,
    Bridge,
    Rule,
}

pub(super) fn needs(report: &mut Report, entry: Entry<'_>, of: NeedsOwner) -> Option<Needs> {
    let mut nodes = Vec::new();
    let flat = match entry.node {
        Node::Map(_) => {
            nodes.push(entry.node);
            Some(())
        }
        Node::List(list) => script::flatten(list.items(), script::DEEPEST, &mut |item| {
            nodes.push(item);
            Some(())
        }),
        _ => None,
    };
    if flat.is_none() {
        report.config(entry.path, "can only be a hash or an array");
        return None;
    }
    let (mark, path) = (report.mark(), entry.path.child("need"));
    let mut needs = Needs::default();
    for node in &nodes {
        need(report, Entry { node, path: &path }, &mut needs);
    }
    if nodes.is_empty() || (needs.cross.is_empty() && needs.bridges.is_empty()) {
        needs.jobs.get_or_insert_default();
    }
    ensure_allowed(report, entry.path, &needs, of);
    report.is_clean_since(mark).then_some(needs)
}

fn ensure_allowed(report: &mut Report, path: &Path<'_>, needs: &Needs, of: NeedsOwner) {
    let kinds = [
        (!needs.cross.is_empty() && of != NeedsOwner::Job, "cross_dependency"),
        (!needs.bridges.is_empty() && of != NeedsOwner::Bridge, "bridge"),
    ];
    let refused: Vec<&str> =
        kinds.iter().filter(|(refused, _)| *refused).map(|(_, kind)| *kind).collect();
    if !refused.is_empty() {
        report.config(path, &format!("uses invalid types: {}", refused.join(", ")));
    }
    let pipelines = needs.cross.iter().filter(|need| need.pipeline.is_some()).count();
    if pipelines > MOST_PIPELINES {
        report.config(path, &format!("must be less than or equal to {MOST_PIPELINES}"));
    }
}

fn need(report: &mut Report, entry: Entry<'_>, needs: &mut Needs) {
    match entry.node {
        Node::Text(name) if name.trim().is_empty() => {
            report.config(entry.path, "can't be blank");
        }
        Node::Text(name) => {
            let need = Need { name: name.to_string(), artifacts: true, optional: false };
            needs.jobs.get_or_insert_default().push(need);
        }
        Node::Map(map) if map.contains("project") || of_pipeline(map) => {
            needs.cross.extend(cross(&mut Fields::of(report, entry.path, map)));
        }
        Node::Map(map) if map.contains("job") => {
            let need = job(&mut Fields::of(report, entry.path, map));
            needs.jobs.get_or_insert_default().extend(need);
        }
        Node::Map(map) if map.contains("pipeline") => {
            needs.bridges.extend(bridge(&mut Fields::of(report, entry.path, map)));
        }
        _ => report.problem(entry.path, "has an unsupported type"),
    }
}

fn of_pipeline(map: &Map) -> bool {
    map.contains("pipeline") && map.contains("job")
}

fn job(fields: &mut Fields<'_, '_>) -> Option<Need> {
    fields.known(&["job", "artifacts", "optional"]);
    let name = fields.required_text("job");
    let artifacts = fields.flag("artifacts").unwrap_or(true);
    let optional = fields.flag("optional").unwrap_or(false);
    let clean = fields.is_clean();
    name.filter(|_| clean).map(|name| Need { name, artifacts, optional })
}

fn cross(fields: &mut Fields<'_, '_>) -> Option<CrossDependency> {
    let pipeline = fields.get("pipeline").map(|_| fields.required_text("pipeline"));
    let project = if pipeline.is_none() {
        fields.known(&["project", "ref", "job", "artifacts"]);
        let project = fields.required_text("project");
        fields.required_text("ref");
        project
    } else {
        fields.known(&["pipeline", "job", "artifacts"]);
        None
    };
    let job = fields.required_text("job");
    let artifacts = fields.flag("artifacts").unwrap_or(true);
    let reference = fields.get("ref").and_then(Node::as_text).map(str::to_owned);
    let clean = fields.is_clean();
    let pipeline = pipeline.flatten();
    job.filter(|_| clean).map(|job| CrossDependency {
        project,
        pipeline,
        job,
        reference,
        artifacts,
    })
}

fn bridge(fields: &mut Fields<'_, '_>) -> Option<BridgeNeed> {
    fields.known(&["pipeline"]);
    let pipeline = fields.required_text("pipeline");
    let clean = fields.is_clean();
    pipeline.filter(|_| clean).map(|pipeline| BridgeNeed { pipeline })
}
