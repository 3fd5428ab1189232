//! The forms in which a file to include may be named.

use kernel::values::is_web_url;

use super::Inclusion;
use crate::config::{
    StepFailure, glob,
    input::Tree,
    json,
    node::{Map, Node},
};

/// One file, its name with variables written out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Location {
    Local(String),
    Project {
        project: String,
        file: String,
        reference: Option<String>,
    },
    Remote(String),
    Template(String),
    Artifact {
        job: Option<String>,
        file: String,
    },
    /// What is no text, as it was written.
    Odd(String),
}

impl Location {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Local(name) | Self::Remote(name) | Self::Template(name) | Self::Odd(name) => name,
            Self::Project { file, .. } | Self::Artifact { file, .. } => file,
        }
    }

    /// What tells it apart from other files that are named in the same place.
    pub(super) fn key(&self) -> String {
        let kind = match self {
            Self::Local(_) | Self::Project { .. } => "file",
            Self::Remote(_) => "remote",
            Self::Template(_) => "template",
            Self::Artifact { job, .. } => job.as_deref().unwrap_or_default(),
            Self::Odd(_) => "odd",
        };
        format!("{kind}:{}", self.name())
    }
}

/// An address with a scheme that is fetched, when a text is one.
pub(crate) fn url(text: &str) -> Option<&str> {
    is_web_url(text).then_some(text)
}

/// All files that an `include` names, as far as its rules let them.
pub(super) fn locations(
    inclusion: &mut Inclusion<'_, '_>,
    written: &Node,
    tree: &dyn Tree,
) -> Result<Vec<Location>, StepFailure> {
    let items = match written {
        Node::Null => return Ok(Vec::new()),
        Node::List(list) => list.items(),
        one => std::slice::from_ref(one),
    };
    let mut all = Vec::new();
    for item in items {
        match item {
            Node::Null => {}
            Node::Text(text) => {
                let text = inclusion.expanded(text);
                let location =
                    if url(&text).is_some() { Location::Remote(text) } else { local(&text) };
                all.extend(spread(inclusion, location, tree)?);
            }
            Node::Map(map) => all.extend(of_map(inclusion, map, item, tree)?),
            _ => return Err(StepFailure::problem("Each include must be a hash or a string")),
        }
        if all.len() > inclusion.given.limits.includes {
            break;
        }
    }
    Ok(all)
}

/// Paths begin at the top of the project, whether they say so or not.
fn local(path: &str) -> Location {
    Location::Local(path.trim_start_matches('/').to_owned())
}

/// A path with stars is all the files that fit, in the order of their names.
fn spread(
    inclusion: &Inclusion<'_, '_>,
    location: Location,
    tree: &dyn Tree,
) -> Result<Vec<Location>, StepFailure> {
    let Location::Local(path) = &location else { return Ok(vec![location]) };
    if !path.contains('*') {
        return Ok(vec![location]);
    }
    inclusion.ensure_time()?;
    if !inclusion.lookup.take(glob::cost(path)) {
        return Err(StepFailure::too_big());
    }
    let Some(pattern) = glob::wildcard(path) else { return Ok(Vec::new()) };
    let paths = tree.paths().map_err(StepFailure::Fault)?;
    let fitting = paths.iter().filter(|path| pattern.is_match(path));
    Ok(fitting.map(|path| Location::Local(path.clone())).collect())
}

/// `{local: …}`, `{project: …, file: …}`, `{remote: …}`, `{template: …}`, `{artifact: …, job: …}`.
fn of_map(
    inclusion: &mut Inclusion<'_, '_>,
    map: &Map,
    written: &Node,
    tree: &dyn Tree,
) -> Result<Vec<Location>, StepFailure> {
    if let Some(rules) = map.present("rules")
        && !inclusion.is_wanted(rules, tree)?
    {
        return Ok(Vec::new());
    }
    let given = |key: &str| map.present(key).filter(|node| !node.is_blank());
    let project = given("file").is_some() && given("project").is_some();
    let kinds = [
        ("local", given("local").is_some()),
        ("project", project),
        ("remote", given("remote").is_some()),
        ("template", given("template").is_some()),
        ("artifact", given("artifact").is_some()),
    ];
    let mut chosen = kinds.iter().filter(|(_, present)| *present).map(|(kind, _)| *kind);
    let (kind, other) = (chosen.next(), chosen.next());
    if other.is_some() {
        return Err(StepFailure::problem(
            "Each include must use only one of: `local`, `project`, `remote`, `template`, `artifact`, `component`",
        ));
    }
    let Some(kind) = kind else {
        let written = inclusion.masked(&json::value(written).to_string());
        return Err(StepFailure::problem(format!(
            "Include `{written}` needs to match exactly one accessor!"
        )));
    };
    named(inclusion, map, kind, tree)
}

fn named(
    inclusion: &Inclusion<'_, '_>,
    map: &Map,
    kind: &str,
    tree: &dyn Tree,
) -> Result<Vec<Location>, StepFailure> {
    let expanded =
        |key: &str| map.present(key).and_then(Node::as_text).map(|text| inclusion.expanded(text));
    let odd = |key: &str| {
        Location::Odd(
            map.present(key).map(|node| json::value(node).to_string()).unwrap_or_default(),
        )
    };
    Ok(match kind {
        "local" => match expanded("local") {
            Some(path) => spread(inclusion, local(&path), tree)?,
            None => vec![odd("local")],
        },
        "remote" => vec![expanded("remote").map_or_else(|| odd("remote"), Location::Remote)],
        "template" => {
            vec![expanded("template").map_or_else(|| odd("template"), Location::Template)]
        }
        "artifact" => {
            let job = expanded("job");
            vec![expanded("artifact").map_or_else(
                || odd("artifact"),
                |file| Location::Artifact { job, file: file.trim_start_matches('/').to_owned() },
            )]
        }
        _ => of_project(inclusion, map, expanded("project"), expanded("ref").as_deref()),
    })
}

fn of_project(
    inclusion: &Inclusion<'_, '_>,
    map: &Map,
    project: Option<String>,
    reference: Option<&str>,
) -> Vec<Location> {
    let files = match map.present("file") {
        Some(Node::List(list)) => list.items(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let project = project.unwrap_or_default().to_lowercase();
    let location = |node: &Node| match node.as_text() {
        Some(file) => Location::Project {
            project: project.clone(),
            file: inclusion.expanded(file).trim_start_matches('/').to_owned(),
            reference: reference.map(str::to_owned),
        },
        None => Location::Odd(json::value(node).to_string()),
    };
    // One more than there may be is told of by whoever counts them.
    files.iter().take(inclusion.given.limits.includes.saturating_add(1)).map(location).collect()
}
